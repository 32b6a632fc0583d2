import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from attribution.edits import Edit, Reword
from attribution.review.revision import UNSUPPORTED, revise
from attribution.text.passages import passages
from attribution.types import LABELS, Label
from tests.make import assessment
from tests.review.make import SOURCE, claim, report

TEXT = "The tower was finished in 1890. It is 330 m high. Nobody likes it."


def body(text: str) -> str:
    """The revised answer without its footnotes and their marks."""
    return re.sub(r"\[\^\d+\]", "", text.partition("\n\n[^1]: ")[0])


def read(text: str) -> list[tuple[str, str]]:
    return [(p.kind, p.text) for p in passages(text)]


def test_a_supported_sentence_gets_a_footnote() -> None:
    first, second = claim(TEXT, "The tower was finished in 1890."), claim(TEXT, "It is 330 m high.")
    made = report(TEXT, (first, "contradicted"), (second, "supported"))
    revised = revise(made)
    text, _, notes = revised.partition("\n\n")
    assert text == "The tower was finished in 1890. It is 330 m high.[^1] Nobody likes it."
    assert notes == (
        "[^1]: [A \\[tower\\] \\| \\*title\\*](<https://example.org/t(1)>), read 2026-11-01: "
        "“The tower was finished in 1889.”\n"
    )
    assert body(revise(made)) == TEXT


def test_the_analyst_decides_what_is_marked() -> None:
    first = claim(TEXT, "The tower was finished in 1890.")
    made = report(TEXT, (first, "supported"))
    own = made.model_copy(update={"judgements": (assessment(first, "contradicted"),)})
    assert "1890. *(contradicted by a source)*" in revise(own, "mark")


def test_unsupported_sentences_are_kept_marked_or_left_out() -> None:
    made = report(
        TEXT,
        (claim(TEXT, "The tower was finished in 1890."), "contradicted"),
        (claim(TEXT, "It is 330 m high."), "supported"),
        (claim(TEXT, "Nobody likes it."), "not_checked"),
    )
    assert body(revise(made)) == TEXT
    marked = TEXT.replace("1890.", "1890. *(contradicted by a source)*")
    assert body(revise(made, "mark")) == marked
    weak = made.verdicts[0].model_copy(update={"strength": "weak"})
    unsure = made.model_copy(update={"verdicts": (weak, *made.verdicts[1:])})
    assert body(revise(unsure, "mark")) == marked.replace(
        "contradicted by", "possibly contradicted by"
    )
    assert body(revise(made, "drop")) == "It is 330 m high. Nobody likes it."


@pytest.mark.parametrize(
    ("answer", "texts", "label", "expected"),
    [
        (TEXT, ["1889"], "supported", TEXT.replace("1890", "1889")),
        (TEXT, ["1888", "1889"], "supported", TEXT.replace("1890", "1889")),  # edited twice
        (TEXT, ["1889"], "contradicted", TEXT),
        (TEXT.replace("1890", "**1890**"), ["1889"], "supported", TEXT.replace("1890", "**1889**")),
        (f"{TEXT} In 1890?", ["1889"], "supported", f"{TEXT.replace('1890', '1889')} In 1890?"),
    ],
)
def test_a_value_that_was_changed_in_a_claim_is_changed_in_the_answer(
    answer: str, texts: list[str], label: Label, expected: str
) -> None:
    sentence = answer.partition(". ")[0] + "."
    plain = "The tower was finished in 1890."
    edits = []
    text, claim_id = plain, "first"
    for number, year in enumerate(texts):
        change = Reword(claim_id=claim_id, text=plain.replace("1890", year))
        claim_id = f"edited{number}"
        edits.append(Edit(at="", change=change, subject=text, claims=(claim_id,)))
        text = change.text
    made = report(answer, (claim(answer, sentence, id=claim_id, text=text), label))
    assert body(revise(made.model_copy(update={"edits": tuple(edits)}))) == expected


def test_a_footnote_takes_the_place_of_the_answers_own_mark_but_not_of_code() -> None:
    words = "The tower was finished in 1889, as `x [1]` says"
    answer = f"{words} [1]. It is red [2]."
    made = report(answer, (claim(answer, f"{words} [1]."), "supported"))
    assert revise(made).startswith(f"{words}.[^3] It is red [2].")


def test_a_sentence_with_one_supported_claim_is_marked_in_part() -> None:
    answer = "It opened in 1889 and is red."
    one, two = claim(answer, "It opened in 1889"), claim(answer, "is red")
    whole = {"sentence": (0, len(answer))}
    made = report(
        answer,
        (one.model_copy(update=whole), "supported"),
        (two.model_copy(update=whole), "unclear"),
    )
    assert body(revise(made, "drop")) == answer + " *(in part: not settled by the sources)*"


def test_lists_tables_and_emphasis_stay_whole() -> None:
    answer = (
        "Intro.\n\n1. **It is red.**\n2. It is blue.\n   - It is deep.\n\n"
        "| A | B |\n|---|---|\n| x | 1 |\n| y | 2 |\n\n*It is old.* It is [new](http://a.b/c).\n"
    )
    words = ["It is red.", "It is blue.", "x | 1", "It is old.", "It is [new](http://a.b/c)."]
    claims = [(claim(answer, w), "no_relation") for w in words]
    dropped = revise(report(answer, *claims), "drop")
    assert dropped == (
        "Intro.\n\n2. It is blue. *(no source found)*\n   - It is deep.\n\n"
        "| A | B |\n|---|---|\n| y | 2 |\n\n\n"
    )
    marked = revise(report(answer, *claims), "mark")
    html = MarkdownIt("commonmark").enable("table").render(marked)
    assert html.count("<li>") == 3
    assert html.count("<tr>") == 3
    assert html.count("no source found") == 5
    assert "<strong>It is red.</strong> <em>(no source found)</em>" in html


def test_a_long_answer_is_read_a_few_times_and_not_for_each_sentence() -> None:
    words = [f"It is {number} m high [1]." for number in range(50)]
    answer = "\n\n".join(words)
    made = report(answer, *((claim(answer, said), "supported") for said in words))
    before = passages.cache_info().misses
    assert revise(made).count("m high.[^2]\n") == 50
    assert passages.cache_info().misses - before < 10


def test_footnotes_do_not_meet_those_of_the_answer() -> None:
    answer = "It is 330 m high.[^1] See:\n\n[^1]: A book."
    made = report(answer, (claim(answer, "It is 330 m high."), "supported"))
    text = revise(made)
    assert "high.[^1][^2] See" in text
    assert [kind for kind, _ in read(text)].count("note") == 2


@pytest.mark.parametrize("title", ["a](http://evil) [b", "x\n\n# y", "<script>", "|", "`"])
def test_foreign_titles_stay_text(title: str) -> None:
    made = report(TEXT, (claim(TEXT, "It is 330 m high."), "supported"))
    page = SOURCE.model_copy(update={"title": title, "url": "https://e.org/>) <b>"})
    text = revise(made.model_copy(update={"pages": (page,)}))
    html = MarkdownIt("commonmark", {"html": True}).render(text.partition("[^1]: ")[2])
    assert "<script" not in html
    assert "<h1" not in html
    assert html.count("<a ") == 1
    assert "%3E" in html


PARTS = st.sampled_from(
    [
        "It is red. ",
        "**Bold it is.** ",
        "\n- An item. ",
        "\n\n| a | b |\n|---|---|\n| c | 1975 |\n",
        "*",
        "\\",
        "|",
        "[Link it.](http://a.b) ",
        "\n\n1. One. Two. ",
        "`code` it is. ",
        "\n\n> A quote. ",
        "\n\n# Head\n\n",
        "In 1975 it was. ",
        "&amp; so. ",
    ]
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
@given(st.lists(PARTS, max_size=8), st.data())
def test_any_answer_can_be_revised(parts: list[str], data: st.DataObject) -> None:
    answer = "".join(parts)
    claims = []
    for p in passages(answer):
        if p.kind not in ("text", "item", "row"):
            continue
        for start, end in p.sentences():
            span = p.span(start, end)
            label: Label = data.draw(st.sampled_from(LABELS))
            made = claim(
                answer,
                answer[slice(*span)],
                id=f"{span}",
                text=p.text[start:end],
                spans=(span,),
                sentence=span,
            )
            claims.append((made, label))
    claims = data.draw(st.permutations(claims))
    made = report(answer, *claims)
    for choice in UNSUPPORTED:
        revised = revise(made, choice)
        before, after = read(answer), read(revised)
        notes = sum(kind == "note" for kind, _ in after)
        if choice == "keep":
            kept = after[: len(after) - notes]
            assert kept == before
        elif choice == "drop":
            left = iter(text for _, text in after)
            assert all(text in left for kind, text in before if kind == "heading")
