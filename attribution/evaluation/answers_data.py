"""Two answers written out: for the store, for the command line, and for the page's download."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from attribution.evaluation.two_answers import TwoAnswers, with_report
from attribution.types import UNCHECKED, Label

_ADAPTER = TypeAdapter(TwoAnswers)


def without_page_texts(result: TwoAnswers) -> TwoAnswers:
    """Without the text of the pages, and with pages, evidence and verdicts only once, not again for each answer."""
    pages = tuple(p.model_copy(update={"text": ""}) for p in result.report.pages)
    bare = {"pages": (), "evidence": (), "verdicts": (), "failures": ()}
    return replace(
        result,
        report=result.report.model_copy(update={"pages": pages}),
        first=result.first.model_copy(update=bare),
        second=result.second.model_copy(update=bare),
    )


def dump(result: TwoAnswers) -> str:
    """JSON of a result without the text of its pages."""
    return _ADAPTER.dump_json(without_page_texts(result)).decode()


def load(body: str) -> TwoAnswers:
    """The result that `dump` wrote; ValidationError for anything else."""
    result = _ADAPTER.validate_json(body)
    return with_report(result, result.report)


def json_data(result: TwoAnswers) -> dict[str, Any]:
    """JSON-serialisable form for the command line and the page's download: what was found, in words of its own."""
    labels: Mapping[str, Label] = {v.claim_id: v.label for v in result.report.verdicts}
    data: dict[str, Any] = _ADAPTER.dump_python(without_page_texts(result), mode="json")
    for match, found in zip(data["matches"], result.matches, strict=True):
        match["supported"] = result.supported(found) if result.decided(found) else None
    data["only_first"], data["only_second"] = ([c.id for c in result.alone(s)] for s in ("first", "second"))
    data["counts"] = {
        side: {
            "checked": sum(labels.get(c.id, "not_reached") not in UNCHECKED for c in part.claims),
            "supported": sum(labels.get(c.id) == "supported" for c in part.claims),
            "contradicted": sum(labels.get(c.id) == "contradicted" for c in part.claims),
        }
        for side, part in (("first", result.first), ("second", result.second))
    }
    return data
