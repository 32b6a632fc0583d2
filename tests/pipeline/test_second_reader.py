"""A second reader of doubtful claims, against a scripted language model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attribution.edits import ReadAgain
from attribution.events import Event, Finished, VerdictReady
from attribution.pipeline import run as pipeline
from attribution.pipeline.carrying import in_words
from attribution.pipeline.editing import edit
from attribution.pipeline.estimate import estimate
from attribution.pipeline.second_reader import (
    Doubt,
    SecondReader,
    changed,
    checked,
    doubts_of,
    is_doubtful,
)
from attribution.policy import DecisionPolicy
from attribution.reports import Exported, markdown_export
from attribution.reports.html import look
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Judgement, Probabilities, Report, Verdict
from attribution.verdicts import beside, recolour
from attribution.verifiers import VERIFIERS
from attribution.verifiers.calibration import strength_of
from attribution.verifiers.llm_brief import neighbourhood
from tests.llm_server import asked, error, llm_server, llm_settings
from tests.make import claim, evidence, page
from tests.servers import Served

MUSEUM = "The Tarn Museum opened in 1931. Entering the museum costs nothing. Most paintings were given by a family."
STATED, DOUBTFUL = "The Tarn Museum opened in 1931.", "Visitors of the Tarn Museum need no ticket."
ANSWER = f"{STATED} {DOUBTFUL}"
QUOTE = "Entering the museum costs nothing."


def made(served: Served, tmp_path: Path, **choices: Any) -> Settings:
    (tmp_path / "museum.md").write_text(MUSEUM)
    source = (str(tmp_path / "museum.md"),)
    return llm_settings(served, verifier="embedded-small", sources=source, coherence=0.0, **choices)


def model(
    relation: str, pace: str = "1 2 3", quote: str = QUOTE
) -> Callable[[dict[str, Any]], str]:
    """Reply in the form that is asked for, and anything where the pace is measured."""

    def script(body: dict[str, Any]) -> str:
        text = body["messages"][-1]["content"]
        if "from 1 to 20" in text:
            return pace
        assert asked(body) != STATED and "unclear" not in text  # only what is doubtful, and not how
        if "verdicts" not in text:
            return {"entailed": "Yes.", "contradicted": "no", "no_relation": "Unknown"}[relation]
        verdict = {
            "passage": 1,
            "reason": "why",
            "quote": quote,
            "relation": relation,
            "confidence": 0.95,
        }
        return json.dumps({"verdicts": [verdict]})

    return script


@pytest.fixture(params=["full", "brief"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(
        "attribution.verifiers.llm_brief.PATIENCE", 1e9 if request.param == "full" else 0.0
    )
    return str(request.param)


def report_of(events: list[Event]) -> Report:
    assert isinstance(events[-1], Finished)
    return events[-1].report


def test_it_reads_what_is_doubtful_after_the_first_verdicts_and_both_are_kept(
    form: str, tmp_path: Path
) -> None:
    with llm_server(model("entailed", pace="" if form == "full" else "I am ready.")) as served:
        settings = made(served, tmp_path, second_reader="llm")
        assert estimate("", ANSWER, settings).llm["second"].calls == 2  # at most
        events = list(pipeline.run("", ANSWER, settings))
        report = report_of(events)
        assert len(served.requests) == 2  # its pace, and one claim
        again = report_of(list(pipeline.run("", ANSWER, settings)))
        assert len(served.requests) == 2 and again.verdicts == report.verdicts
    shown = [(e.verdict.claim_id, e.verdict.label) for e in events if isinstance(e, VerdictReady)]
    claim = report.claims[1].id
    assert shown[-1] == (claim, "supported") and (claim, "unclear") in shown[:-1]
    stated, read = report.verdicts
    assert (
        stated.other is None
        and read.other
        and (read.other.reader, read.other.label) == ("first", "unclear")
    )
    assert "A second reader decided; the first: unclear." in read.reason and changed(report) == (
        1,
        1,
    )
    assert read.strength == "weak"  # nobody has calibrated it
    (piece,) = (e for e in report.evidence if e.claim_id == claim and e.other)
    assert piece.other and piece.other.entailed < 0.5 < piece.probabilities.entailed
    assert (
        piece.deciding_sentence == (QUOTE if form == "full" else piece.deciding_sentence)
        and piece.text in MUSEUM
    )
    assert report.versions[f"verifier:{claim}"] == report.versions["second_reader"]
    assert report.versions["second_reader"].startswith(
        "verification_brief" if form == "brief" else "verification.v3"
    )
    assert report.usage.llm["second"].calls == 2 and "verify" not in report.usage.llm
    assert f"**The first reader: {look('unclear').icon} Unclear.**" in markdown_export.write(
        Exported(report)
    )
    assert Report.model_validate_json(report.to_json()).verdicts == report.verdicts
    assert recolour(report, DecisionPolicy.of(report.settings)).verdicts[1].other == read.other


@pytest.mark.parametrize(
    ("patience", "relation", "quote"),
    [
        (1e9, "no_relation", ""),
        (1e9, "entailed", "Entering the museum is free."),
        (0, "contradicted", ""),
    ],
)
def test_where_it_finds_no_side_or_no_quote_the_first_verdict_stays(
    patience: float, relation: str, quote: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In brief, a "no" is no contradiction."""
    monkeypatch.setattr("attribution.verifiers.llm_brief.PATIENCE", patience)
    with llm_server(model(relation, quote=quote)) as served:
        report = report_of(
            list(pipeline.run("", ANSWER, made(served, tmp_path, second_reader="llm")))
        )
    _, read = report.verdicts
    assert (
        read.label == "unclear"
        and read.other
        and read.other.reader == "second"
        and changed(report) == (0, 1)
    )
    assert f"verifier:{read.claim_id}" not in report.versions


def test_a_failure_keeps_the_first_verdict_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(body: dict[str, Any]) -> str:
        return "1" if "from 1 to 20" in body["messages"][-1]["content"] else "I do not know."

    with llm_server(script) as served:
        report = report_of(
            list(pipeline.run("", ANSWER, made(served, tmp_path, second_reader="llm")))
        )
    assert [v.label for v in report.verdicts] == ["supported", "unclear"] and report.verdicts[
        1
    ].other is None
    assert [(f.stage, f.kind) for f in report.failures] == [("second", "llm_failed")]


def test_its_claims_are_capped(tmp_path: Path) -> None:
    doubtful = "Nobody pays at the door of the Tarn Museum."
    with llm_server(model("entailed")) as served:
        settings = made(served, tmp_path, second_reader="llm", second_claims=1)
        report = report_of(list(pipeline.run("", f"{ANSWER} {doubtful}", settings)))
    assert sum(v.other is not None for v in report.verdicts) == 1
    assert [f.message for f in report.failures if f.stage == "second"] == [
        "1 of 2 doubtful claims were not read again: raise second_claims to read more"
    ]


def test_a_finished_run_is_read_again(form: str, tmp_path: Path) -> None:
    with llm_server(model("entailed")) as served:
        settings = made(served, tmp_path)
        store = Store.open(settings.database_url)
        before = report_of(list(pipeline.run("", ANSWER, settings, store)))
        assert len(doubts_of(before)) == 1 and not served.requests
        after = report_of(list(edit(before, ReadAgain(reader="llm"), settings, store)))
        assert [v.label for v in after.verdicts] == ["supported", "supported"] and changed(
            after
        ) == (1, 1)
        assert after.usage.llm["second"].calls == 2
        assert in_words(after.edits[-1]).endswith(f"by {VERIFIERS['llm'].label}")
        assert not doubts_of(after)
    loaded = store.runs.load(before.id)
    assert loaded and loaded.verdicts == after.verdicts


@pytest.mark.parametrize("relation", ["no_relation", "entailed"])
def test_in_brief_a_passage_against_the_claim_is_not_read(
    relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others do not decide in its name."""
    monkeypatch.setattr("attribution.verifiers.llm_brief.PATIENCE", 0.0)
    of, text = claim("Visitors of the Tarn Museum need no ticket."), MUSEUM[34:68]
    place = {"text": text, "end": len(text), "sentence": (0, len(text))}
    against = evidence(of, 0.1, 0.8, "contradicted", page_id="a", **place)
    pieces = (against, evidence(of, 0.6, 0.1, "entailed", page_id="b", **place))
    first = Verdict(claim_id=of.id, label="contradicted", confidence=0.8, reason="")
    with llm_server(model(relation)) as served:
        settings = llm_settings(served, second_reader="llm")
        second = SecondReader(
            settings, Store.open(settings.database_url), {p.page_id: page(text) for p in pieces}
        )
        ((read,),) = second.read([Doubt(of, first, pieces, (0, 1))])
    assert read.verdict == first and read.failure is None


def test_any_verifier_can_be_the_second_reader(tmp_path: Path) -> None:
    with llm_server(model("entailed")) as served:
        settings = made(served, tmp_path, second_reader="embedded-small")
        report = report_of(list(pipeline.run("", ANSWER, settings)))
        assert not served.requests
    assert report.verdicts[1].other and report.versions["second_reader"].startswith(
        "embedded-small"
    )


@pytest.mark.parametrize(
    ("claim", "passage", "agree"),
    [
        ("The tower is 12 feet high.", "The old tower is 12 metres high.", False),
        ("The tower is 12 metres high.", "It was built in 1920 and is 12 metres high.", True),
        ("Admission is free.", "Entering costs nothing.", True),
        ("It opened in 1932.", "It opened in June 1931.", False),
        ("More than 100 came.", "They counted 130 visitors.", True),
        ("Ann Lee beat Tom Fox in the final.", "Tom Fox beat Ann Lee in the final.", False),
    ],
)
def test_a_support_stands_only_if_values_and_roles_agree(
    claim: str, passage: str, agree: bool
) -> None:
    said = Judgement(
        Probabilities(entailed=0.9, contradicted=0.05, no_relation=0.05), (0, len(passage)), {}
    )
    assert (checked((claim, passage), said) == said) is agree


def test_doubt_follows_the_calibration() -> None:
    def verdict(label: Any, confidence: float) -> Verdict:
        return Verdict(claim_id="c", label=label, confidence=confidence, reason="")

    for label, confidence, doubtful in (
        ("supported", 0.95, False),
        ("supported", 0.6, True),
        ("contradicted", 0.7, True),
        ("unclear", 0.1, True),
        ("conflicting", 0.9, True),
        ("no_relation", 0.9, False),
        ("missing", 0.0, False),
        ("not_checked", 0.0, False),
    ):
        assert (
            is_doubtful(verdict(label, confidence), "a verifier that is not calibrated") is doubtful
        )


def test_the_short_passage_is_the_sentence_with_its_neighbours() -> None:
    text = "One is here. Two is here. Three is here. Four is here."
    assert neighbourhood(text, (13, 25)) == "One is here. Two is here. Three is here."
    assert neighbourhood(text, (0, 5)) == "One is here. Two is here."
    long = f"{'Long ' * 80}it is. Two is here. Three is here."
    assert neighbourhood(long, (407, 419)) == "Two is here. Three is here."


@pytest.mark.parametrize("asked_first", [False, True])
@pytest.mark.parametrize(("status", "most"), [(401, 1), (500, 4)])
def test_an_endpoint_that_fails_is_asked_no_more_and_said_in_one_line(
    status: int, most: int, asked_first: bool, tmp_path: Path
) -> None:
    """Its pace is the first question."""
    with llm_server(lambda _: error(status)) as served:
        settings = made(served, tmp_path, llm_retries=3, llm_workers=1)
        own = {"verifier": "llm"} if asked_first else {"second_reader": "llm"}
        settings = settings.model_copy(update=own)
        more = "Nobody pays at the door of the Tarn Museum. The Tarn Museum takes no money from visitors."
        report = report_of(list(pipeline.run("", f"{ANSWER} {more}", settings)))
    assert len(served.requests) <= most + asked_first and not any(v.other for v in report.verdicts)
    stage = "verify" if asked_first else "second"
    said = [(f.stage, f.kind, f.subject) for f in report.failures if f.stage == stage]
    if status == 401 or not asked_first:
        assert len(said) == 1
    assert said[-1][2].endswith("language model" if asked_first else " claims")


def test_a_badge_of_a_second_reader_that_nobody_has_judged_is_weak() -> None:
    sure = Verdict(claim_id="c", label="supported", confidence=0.97, reason="")
    first = Verdict(claim_id="c", label="unclear", confidence=0.4, reason="")
    assert strength_of("a model", sure) == "strong"
    assert strength_of("a model", beside(sure, first, "first")) == "weak"
    assert (
        beside(sure, sure, "first").reason
        == beside(sure, sure, "second").reason
        == " Both readers say so."
    )
