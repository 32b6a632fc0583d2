import csv
import io
import json
import re
import threading
from collections.abc import Callable, Iterator

import pytest

from attribution.errors import BadInput, Unavailable
from attribution.events import ClaimsReady, StageStarted, VerdictReady
from attribution.files import Row
from attribution.reports.html import html
from attribution.settings import Settings
from attribution.studies.factscore import score
from attribution.studies.segmenters.comparison import (
    Column,
    Comparison,
    ComparisonReady,
    SegmenterResult,
    decomposition,
    group_by_sentence,
    with_verdicts,
)
from attribution.studies.segmenters.tables import counts, tables
from attribution.types import Claim, Label, LlmUsage, Report, Segmented, Verdict
from pages.compare import CompareProgress, ManyProgress, segmenters, work, work_many
from pages.ui.background import Job
from pages.ui.compare.results import (
    as_csv,
    as_json,
    as_markdown,
    figures,
    legend,
    sentence,
    summary,
    tables_csv,
    tables_json,
    view,
)
from pages.ui.files import LIMIT, read_answers
from pages.ui.run import blank
from tests.make import claim, evidence, page
from tests.pages.jobs import ended, opened, until


def test_answers_of_a_file_with_a_bad_line_among_them() -> None:
    lines = [
        '{"question": "Q", "answer": "A"}',
        "",
        '{"answer": "B", "more": 1}',
        "{oops",
        '{"answer": 3}',
    ]
    first, second, third, fourth = read_answers("\ufeff".encode() + "\n".join(lines).encode())
    assert (first.line, first.fields, first.error) == (1, {"question": "Q", "answer": "A"}, "")
    assert (second.line, second.fields["answer"], second.error) == (3, "B", "")
    assert third.line == 4 and "not JSON" in third.error and '"answer" is not text' in fourth.error


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b" \n", "the file is empty"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'{"answer": "A"}\n' * (LIMIT + 1), f"takes {LIMIT}"),
    ],
)
def test_a_file_of_something_else_says_what_was_expected(content: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_answers(content)


FIRST, SECOND, THIRD = "The Nile is long and *old*.", "It is wet.", "It flows north and south."
TEXT = f"{FIRST} {SECOND} {THIRD}"


def comparison() -> Comparison:
    """Of three sentences, the first cut with another verdict, the second by all alike, the third
    with the same.
    """

    def made(text: str, within: str) -> Claim:
        at = TEXT.index(within)
        span = (at, at + len(within))
        return claim(text, spans=(span,), sentence=span, worthiness="factual")

    whole = [
        (made(t, t), label)
        for t, label in ((FIRST, "no_relation"), (SECOND, "supported"), (THIRD, "missing"))
    ]
    parts = [
        (made("The Nile is long.", FIRST), "supported"),
        (made("The Nile is old.", FIRST), "no_relation"),
        whole[1],
        (made("It flows north.", THIRD), "missing"),
        (made("It flows south.", THIRD), "missing"),
    ]

    def report(judged: list[tuple[Claim, Label]]) -> Report:
        return Report(
            id="r",
            created_at="",
            question="",
            answer=TEXT,
            settings={},
            versions={},
            claims=tuple(c for c, _ in judged),
            verdicts=tuple(
                Verdict(claim_id=c.id, label=label, confidence=0.9, reason="r")
                for c, label in judged
            ),
        )

    usage = LlmUsage(calls=1, prompt_tokens=900, completion_tokens=100, cost=0.25)
    columns = [
        Column(
            name,
            report(judged),
            decomposition([c for c, _ in whole], [c for c, _ in judged]),
            0.5,
            used,
        )
        for name, judged, used in (("sentences", whole, None), ("clauses", parts, usage))
    ]
    spans = [c.spans[0] for c, _ in whole]
    return Comparison(report([*whole, *parts]), tuple(columns), group_by_sentence(spans, columns))


def test_what_the_cut_changes_comes_first_and_what_all_cut_alike_is_folded_and_said_once() -> None:
    groups = view(comparison())["groups"]
    assert [(g["title"].split(" · ")[0], g["folded"]) for g in groups] == [
        ("The verdict depends on how the answer is split", False),
        ("Split differently, with the same verdicts", False),
        ("Split alike by all", True),
    ]
    flipped, same, alike = (g["rows"][0] for g in groups)
    assert "".join(flipped["pieces"]) == "The Nile is long and old."
    assert [[c["style"] for c in cell] for cell in flipped["cells"]] == [
        ["v-no_relation"],
        ["v-supported", "v-no_relation"],
    ]
    assert len(same["cells"]) == 2 and len(alike["cells"]) == 1
    assert summary(comparison()).endswith(
        "The verdict depends on how the answer is split in 1 of 3 sentences."
    )


def test_a_sentence_is_shown_as_a_reader_of_the_answer_sees_it() -> None:
    answer = r"- **Psycho** (*Psycho_(1960_film)*) cost \$5 & more [1]."
    claims = [
        claim(text, spans=(span,), sentence=(2, len(answer)), worthiness="factual")
        for text, span in (
            ("Psycho cost more.", (4, 12)),
            ("It cost $5.", (answer.index("cost"), len(answer))),
        )
    ]
    whole = comparison().report.model_copy(
        update={"answer": answer, "claims": tuple(claims), "verdicts": ()}
    )
    columns = [Column("clauses", whole, decomposition(claims, claims), 0.1)]
    shown = Comparison(whole, tuple(columns), group_by_sentence([(2, len(answer))], columns))
    (row,) = view(shown)["groups"][0]["rows"]
    assert (
        "".join(row["pieces"])
        == sentence(shown.rows[0], answer)
        == "Psycho (Psycho_(1960_film)) cost $5 & more [1]."
    )


def test_the_cells_of_a_row_are_divided() -> None:
    answer = "| Film | Year |\n|---|---|\n| Psycho | 1960 |"
    span = (answer.index("Psycho"), answer.index("1960") + 4)
    claims = (claim("Psycho is of 1960.", spans=(span,), sentence=span),)
    whole = comparison().report.model_copy(
        update={"answer": answer, "claims": claims, "verdicts": ()}
    )
    columns = [Column("sentences", whole, decomposition(claims, claims), 0.1)]
    shown = Comparison(whole, tuple(columns), group_by_sentence([span], columns))
    (row,) = view(shown)["groups"][0]["rows"]
    assert "".join(row["pieces"]) == sentence(shown.rows[0], answer) == "Psycho | 1960"


def unfinished() -> Comparison:
    """The same, stopped before the first claim of the last sentence."""
    whole = comparison()
    known = tuple(v for v in whole.report.verdicts if v.label != "missing")
    return with_verdicts(whole, whole.report.model_copy(update={"verdicts": known}))


def test_while_it_runs_sentences_stay_in_their_places_and_what_was_not_reached_is_said_afterwards() -> (
    None
):
    (group,) = view(unfinished(), running=True)["groups"]
    assert [row["key"] for row in group["rows"]] == [TEXT.index(t) for t in (FIRST, SECOND, THIRD)]
    waiting = group["rows"][2]["cells"][0][0]
    assert (waiting["style"], waiting["word"]) == ("v-pending", "Being checked")
    after = view(unfinished())["groups"]
    assert [g["title"] for g in after][:2] == [
        "The verdict depends on how the answer is split · 1 sentence",
        "Not finished · 1 sentence",
    ]
    assert after[1]["rows"][0]["cells"][1][0]["word"] == "Not reached"
    assert summary(unfinished()).endswith("in 1 of 2 sentences that are finished.")
    assert "Not reached" in html(legend(unfinished(), False)) and "Not reached" not in html(
        legend(comparison(), False)
    )
    nothing = with_verdicts(comparison(), comparison().report.model_copy(update={"verdicts": ()}))
    assert summary(nothing).endswith("None of 3 sentences is finished.")


def test_figures_say_time_and_cost_of_each_segmenter_and_how_far_it_is() -> None:
    names = ("sentences", "clauses", "predpatt")
    cut = [
        SegmenterResult(c.segmenter, Segmented(c.report.claims), c.seconds)
        for c in comparison().columns
    ]
    drawn = html(figures(names[:2], cut, comparison(), False))
    assert (
        drawn.count("0.5 s") == 2
        and ">none<" in drawn
        and "0.25 (1,000 tokens)" in drawn
        and "5 of 5" in drawn
    )
    assert ">FActScore<" in drawn and "without the length penalty)" in drawn
    assert f"<td>{score([counts(comparison().columns[0])]).factscore:.2f} (" in drawn
    assert "2 of 3" in html(figures(names[:2], cut, unfinished(), True))
    running = html(figures(names, cut[:1], None, True))
    assert "3 claims found" in running and "splitting …" in running and "waiting" in running
    assert "not reached" in html(figures(names, cut, comparison(), False))


HOSTILE = "=cmd|' /C calc'!A0 `x` | $$\\href{javascript:x}{y}$$ <b>![a](javascript:x)</b> &lt;"


def hostile() -> Comparison:
    """A comparison whose every text is hostile."""
    said = claim(
        HOSTILE, spans=((0, len(HOSTILE)),), sentence=(0, len(HOSTILE)), worthiness="factual"
    )
    source = page(HOSTILE, title=HOSTILE, url="javascript:alert(1)")
    piece = {
        "text": HOSTILE,
        "end": len(HOSTILE),
        "sentence": (0, len(HOSTILE)),
        "page_id": source.id,
    }
    report = Report(
        id="r",
        created_at="",
        question=HOSTILE,
        answer=HOSTILE,
        settings={},
        versions={},
        claims=(said,),
        pages=(source,),
        evidence=(evidence(said, 0.9, 0.05, "entailed").model_copy(update=piece),),
        verdicts=(Verdict(claim_id=said.id, label="supported", confidence=0.9, reason=HOSTILE),),
    )
    columns = [
        Column(n, report, decomposition([said], [said]), 0.5) for n in ("sentences", "clauses")
    ]
    return Comparison(report, tuple(columns), group_by_sentence([said.spans[0]], columns))


def test_markdown_escapes_what_would_be_markup() -> None:
    assert as_markdown(comparison()).count("\n## ") == 3
    text = as_markdown(hostile())
    for mark in ("<b>", "`x`", "![", "$$", "&lt;", "cmd|"):
        assert not re.search(rf"(?<!\\){re.escape(mark)}", text), mark
    said = next(line for line in text.splitlines() if line.startswith("- ✓ Supported: "))
    assert re.sub(r"\\(.)", r"\1", said.partition(": ")[2]) == HOSTILE


def test_csv_has_a_row_a_claim_and_a_spreadsheet_runs_nothing_of_it() -> None:
    made = list(csv.DictReader(io.StringIO(as_csv(comparison()))))
    assert len(made) == 3 + 5
    first = made[0]
    assert (first["number"], first["segmenter"], first["verdict"]) == (
        "1",
        "sentences",
        "Nothing related",
    )
    assert (
        first["sentence"] == "The Nile is long and old." and made[1]["claim"] == "The Nile is long."
    )
    cells = [cell for row in csv.reader(io.StringIO(as_csv(hostile()))) for cell in row]
    assert any(cell.startswith("'=cmd") for cell in cells)
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    assert {row["verdict"] for row in csv.DictReader(io.StringIO(as_csv(unfinished())))} >= {
        "Not reached"
    }


def test_json_holds_all_of_it_in_the_form_of_the_command_line() -> None:
    data = json.loads(as_json(hostile()))
    assert (
        data["report"]["claims"][0]["text"] == HOSTILE and data["report"]["pages"][0]["text"] == ""
    )
    assert [c["segmenter"] for c in data["columns"]] == ["sentences", "clauses"] and data["rows"][
        0
    ]["pending"] is False


def test_tables_of_many_answers_are_one_csv_and_one_json() -> None:
    made = tables([comparison(), comparison()])
    found = list(csv.DictReader(io.StringIO(tables_csv(made))))
    assert {"table": "Claims", "segmenter": "clauses", "figure": "claims", "value": "10"} in found
    assert json.loads(tables_json(made))[0]["rows"][1]["claims"] == 10


# --- the work in the background ---


def started(compare: Callable[..., Iterator[object]], *segmenters: str) -> Job[CompareProgress]:
    initial = CompareProgress(blank("", TEXT, Settings()), "id", segmenters=segmenters)
    return Job("comparison", initial, work(initial, compare, print), "id")


def test_a_comparison_takes_verdicts_into_its_columns_as_they_come_and_keeps_them_when_it_breaks() -> (
    None
):
    whole = comparison()
    go = threading.Event()

    def compare(
        question: str, answer: str, stop: threading.Event, turns: object
    ) -> Iterator[object]:
        yield StageStarted("segment")
        yield SegmenterResult("sentences", Segmented(whole.columns[0].report.claims), 0.1)
        yield ClaimsReady(whole.report.claims)
        yield ComparisonReady(
            with_verdicts(whole, whole.report.model_copy(update={"verdicts": ()}))
        )
        yield VerdictReady(whole.report.verdicts[0], ())
        go.wait(5)
        raise Unavailable("the model went away")

    job = started(compare, "sentences", "clauses")
    until(lambda: job.progress().report.verdicts)
    now = job.progress()
    assert now.running and [c.segmenter for c in now.results] == ["sentences"] and now.comparison
    assert [len(c.report.verdicts) for c in now.comparison.columns] == [1, 0]
    go.set()
    ended(job)
    assert "went away" in job.progress().error and not job.progress().finished
    assert job.progress().comparison == now.comparison


def test_an_experiment_names_the_answers_it_could_not_compare_and_stop_leaves_out_the_one_under_way() -> (
    None
):
    reached = threading.Event()

    def compare(
        question: str, answer: str, stop: threading.Event, turns: object
    ) -> Iterator[object]:
        if not answer:
            raise BadInput("The answer is empty.")
        if answer == "slow":
            reached.set()
            stop.wait(5)
        yield ComparisonReady(comparison(), finished=True)

    rows = [
        Row(1, {"answer": "A"}),
        Row(2, {"answer": ""}),
        Row(3, {}, "not JSON"),
        Row(4, {"answer": "slow"}),
    ]
    rows.append(Row(5, {"answer": "never"}))
    job = Job("experiment", ManyProgress(5), work_many(rows, compare, print), "id")
    assert reached.wait(5)
    job.stop()
    ended(job)
    now = job.progress()
    assert (len(now.comparisons), now.done, now.total) == (1, 3, 5)
    assert now.failed == ((2, "", "The answer is empty."), (3, "", "not JSON"))
    assert not now.comparisons[0].columns[0].report.evidence and not now.error


def test_the_first_comparison_is_of_two_that_cut_differently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pages.ui.state.value", lambda _: None)
    assert segmenters() == ["sentences", "clauses"]


def test_the_page_shows_a_comparison_that_was_stopped_and_what_can_be_taken_along() -> None:
    last = unfinished()

    def compare(
        question: str, answer: str, stop: threading.Event, turns: object
    ) -> Iterator[object]:
        yield from (
            SegmenterResult(c.segmenter, Segmented(c.report.claims), c.seconds)
            for c in last.columns
        )
        yield ComparisonReady(last)

    job = started(compare, "sentences", "clauses", "predpatt")
    ended(job)
    shown = opened("compare", session={"_page_comparison": job})
    assert not shown.exception
    assert {b.label: b.disabled for b in shown.button if b.label in ("Compare", "Stop")} == {
        "Compare": False,
        "Stop": True,
    }
    said = " ".join(h.value for h in shown.get("html") if hasattr(h, "value")) or str(shown.main)
    assert "Stopped early" in said and "Not reached: PredPatt" in said
    assert [e.label for e in shown.expander if e.label.startswith("Copy as")] == [
        "Copy as Markdown, CSV or JSON"
    ]
