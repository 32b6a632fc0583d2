import asyncio
import json
from collections.abc import AsyncGenerator

from attribution.events import Event, StageStarted, VerdictReady
from attribution.server.bodies import lines
from attribution.types import Claim
from attribution.verdicts import not_reached


def claim(name: str) -> Claim:
    return Claim(id=name, text="It is tall.", spans=(), worthiness="factual", independent=True)


def test_a_verdict_is_sent_again_only_where_it_changed() -> None:
    early, changed, other = (
        not_reached(claim(c), reason) for c, reason in (("a", "x"), ("a", "y"), ("b", "x"))
    )

    async def events() -> AsyncGenerator[Event]:
        for verdict in (early, other):
            yield VerdictReady(verdict, ())
        yield StageStarted("verify")
        for verdict in (early, other, changed, other):
            yield VerdictReady(verdict, ())

    async def read() -> list[bytes]:
        return [line async for line in lines(events())]

    sent = [json.loads(line) for line in asyncio.run(read())]
    verdicts = [line["verdict"] for line in sent if line["event"] == "verdict"]
    assert [(v["claim_id"], v["reason"]) for v in verdicts] == [("a", "x"), ("b", "x"), ("a", "y")]
