from dataclasses import replace

from attribution.studies.answers.agreement import Match
from attribution.studies.answers.two_answers import (
    BETWEEN,
    TwoAnswers,
    with_report,
)
from attribution.types import Claim, Label, Report, Verdict
from pages.answers import (
    disagreements,
    shared_and_alone,
    summary,
)
from tests.make import claim, evidence, page
from tests.pages.jobs import opened

FIRST = ("The bridge opened in 1937.", "The net saved 19 men.", "Its colour is orange.")
SECOND = ("The bridge opened in 1939.", "Its colour is called orange.")


def two(first: tuple[str, ...] = FIRST, second: tuple[str, ...] = SECOND) -> TwoAnswers:
    """The first claims contradict each other, the last agree; of the contradiction the first claim
    is supported.
    """
    sides = []
    for number, texts in enumerate((first, second)):
        answer, claims = " ".join(texts), list[Claim]()
        for text in texts:
            at = answer.index(text)
            made = claim(text, id=f"{number}{len(claims)}", spans=((at, at + len(text)),))
            claims.append(made)
        sides.append((answer, claims))
    labels: dict[str, Label] = {
        "00": "supported",
        "01": "supported",
        "02": "unclear",
        "10": "contradicted",
    }
    source = page("The bridge opened in 1937.", title="Bridges")
    pieces = [evidence(sides[0][1][0], 0.9, 0.05, "entailed", page_id=source.id)]
    every = [c for _, claims in sides for c in claims]
    report = Report(
        id="r",
        created_at="",
        question="When?",
        answer=BETWEEN.join(a for a, _ in sides),
        settings={},
        versions={},
        claims=tuple(every),
        pages=(source,),
        evidence=tuple(pieces),
        verdicts=tuple(
            Verdict(
                claim_id=c.id, label=labels.get(c.id, "no_relation"), confidence=0.9, reason="r"
            )
            for c in every
        ),
    )
    last = f"0{len(first) - 1}", f"1{len(second) - 1}"
    matches = (
        Match("contradiction", ("00",), ("10",), 0.9, (("1937",), ("1939",))),
        Match("second_more", (last[0],), (last[1],), 0.8),
    )
    parts = [
        report.model_copy(update={"answer": answer, "claims": tuple(claims)})
        for answer, claims in sides
    ]
    return with_report(TwoAnswers(report, parts[0], parts[1], matches), report)


def unfinished() -> TwoAnswers:
    whole = two()
    return with_report(
        whole, whole.report.model_copy(update={"verdicts": whole.report.verdicts[:1]})
    )


def test_the_summary_counts_each_answer_and_says_whom_the_sources_support() -> None:
    assert summary(two()) == (
        "Answer A: 2 of 3 checked claims supported. Answer B: 0 of 2 checked claims supported, 1 contradicted. "
        "They disagree in 1 place, where the sources support Answer A."
    )
    twice = replace(two(), matches=(*two().matches, Match("contradiction", ("01",), ("11",), 0.8)))
    assert summary(twice).endswith(
        "They disagree in 2 places; the sources support Answer A in 2 of them."
    )
    assert summary(unfinished()).endswith("They disagree in 1 place.")
    assert summary(replace(two(), matches=())).endswith(
        "No contradiction between the two was found."
    )


def test_rows_say_what_differs_and_fold_what_both_or_one_says() -> None:
    (group,) = disagreements(two(), False)["groups"]
    assert group["title"] == "Where they disagree · 1"
    assert not group["folded"]
    note = group["rows"][0]["pieces"][0]
    assert note == "Answer A says “1937”, Answer B says “1939”. The sources support Answer A."
    assert [[c["style"] for c in cell] for cell in group["rows"][0]["cells"]] == [
        ["v-supported"],
        ["v-contradicted"],
    ]
    found = [
        (g["title"], g["folded"], [r["pieces"] for r in g["rows"]])
        for g in shared_and_alone(two(), False)["groups"]
    ]
    assert found == [
        ("Both say · 1", True, [["Answer B says more."]]),
        ("Only Answer A says · 1", True, [[""]]),
    ]
    waiting = disagreements(unfinished(), True)["groups"][0]["rows"][0]["pieces"][0]
    assert waiting.endswith("The sources are still being read.")
    keys = [
        r["key"]
        for data in (disagreements(two(), False), shared_and_alone(two(), False))
        for g in data["groups"]
        for r in g["rows"]
    ]
    assert len(keys) == len(set(keys))


def test_the_page_shows_a_saved_comparison_and_fills_in_its_form() -> None:
    from attribution.studies.answers.two_answers import save_answers
    from pages.ui.state import store

    save_answers(store(), "abc", two())
    shown = opened("answers", answers="abc")
    assert not shown.exception
    assert [a.value for a in shown.text_area if a.label.startswith("Answer")] == [
        " ".join(FIRST),
        " ".join(SECOND),
    ]
    said = " ".join(h.proto.body for h in shown.get("html"))
    assert "Answer A: 2 of 3 checked claims supported" in said
    assert {b.label for b in shown.get("download_button")} >= {"Download JSON"}
