from attribution.reports.html import html
from attribution.studies.segmenters.comparison import (
    Column,
    Comparison,
    decomposition,
    group_by_sentence,
    save_comparison,
    with_verdicts,
)
from attribution.types import Claim, Label, Report, Verdict
from pages.ui.segmenter_columns import legend, summary, view
from pages.ui.state import store
from tests.make import claim
from tests.pages.jobs import opened

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

    columns = [
        Column(
            name,
            report(judged),
            decomposition([c for c, _ in whole], [c for c, _ in judged]),
            0.5,
        )
        for name, judged in (("sentences", whole), ("clauses", parts))
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
    assert len(same["cells"]) == 2
    assert len(alike["cells"]) == 1
    assert summary(comparison()).endswith(
        "The verdict depends on how the answer is split in 1 of 3 sentences."
    )


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
    assert "Not reached" in html(legend(unfinished(), False))
    assert "Not reached" not in html(legend(comparison(), False))
    nothing = with_verdicts(comparison(), comparison().report.model_copy(update={"verdicts": ()}))
    assert summary(nothing).endswith("None of 3 sentences is finished.")


def test_the_page_shows_a_saved_comparison_with_its_figures() -> None:
    save_comparison(store(), "abc", comparison())
    shown = opened("compare", comparison="abc")
    assert not shown.exception
    text = " ".join(block.body for block in shown.get("html"))
    assert "in 1 of 3 sentences" in text
    assert "FActScore" in text
    files = {button.label for button in shown.get("download_button")}
    assert files >= {"Download tables (CSV)", "Download JSON"}
