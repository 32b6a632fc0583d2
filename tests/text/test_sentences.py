import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.sentences import LANGUAGES, detect, is_english, possible_ends, sentences

MARKS = [
    "e.g. ",
    "Dr. ",
    "U.S. ",
    "1. ",
    "It is. ",
    "so!",
    "\n",
    "toxic.Cats ",
    "。",
    "؟ ",
    "।",
    "”",
    "...",
    " . . . ",
    "1) A ",
    "2) B ",
    "• C ",
    "” (D 1) ",
    " 3.5 ",
    "is",
]
TEXTS = st.lists(st.sampled_from(MARKS) | st.text(max_size=6), max_size=30).map("".join)


def cut(text: str, limit: int | None = None) -> list[str]:
    return [text[a:b] for a, b in sentences(text, limit)]


@given(TEXTS, st.none() | st.integers(1, 40))
def test_spans_are_trimmed_ordered_and_lose_no_letter(text: str, limit: int | None) -> None:
    spans = sentences(text, limit)
    assert all(text[a:b].strip() == text[a:b] != "" for a, b in spans)
    assert all(first[1] <= second[0] for first, second in zip(spans, spans[1:], strict=False))
    assert limit is None or all(b - a <= limit for a, b in spans)
    inside = {i for a, b in spans for i in range(a, b)}
    assert all(c.isspace() for i, c in enumerate(text) if i not in inside)


@given(TEXTS)
def test_every_sentence_ends_where_one_may_end(text: str) -> None:
    ends = {len(text[:end].rstrip()) for end in possible_ends(text)} | {len(text.rstrip())}
    assert all(b in ends for _, b in sentences(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "One here. Two (there.) Three!\nA line\n\nJ. Smith came.",
            ["One here.", "Two (there.)", "Three!", "A line"],
        ),
        (
            "Dr. Smith met J. R. R. Tolkien. They talked.",
            ["Dr. Smith met J. R. R. Tolkien.", "They talked."],
        ),
        (
            "Miranda v. Arizona, e.g. in No. 5. It ended.",
            ["Miranda v. Arizona, e.g. in No. 5.", "It ended."],
        ),
        ("It cost 3.5 million. It was cheap!", ["It cost 3.5 million.", "It was cheap!"]),
        ("It began in the 1950s. It ended.", ["It began in the 1950s.", "It ended."]),
        ("Do so: 1. Open it. 2. Close it.", ["Do so: 1. Open it.", "2. Close it."]),
        (
            "It runs north.[1][2] It ends.[note 3] End",
            ["It runs north.[1][2]", "It ends.[note 3]", "End"],
        ),
        ("它是河。[1]它向北流。", ["它是河。[1]", "它向北流。"]),
        ("It works. 😀 It does. ”", ["It works.", "😀 It does. ”"]),
        (
            "Er wohnte z. B. in Bonn. Über allem stand es.",
            ["Er wohnte z. B. in Bonn.", "Über allem stand es."],
        ),
        ("Он жил в г. Москва. Потом уехал.", ["Он жил в г. Москва.", "Потом уехал."]),
        ("这是书。那也是。", ["这是书。", "那也是。"]),
        ("「これは本です。」それも。", ["「これは本です。」", "それも。"]),
        ("ما هذا؟ هذا كتاب. وهذا أيضا۔ نعم", ["ما هذا؟", "هذا كتاب.", "وهذا أيضا۔", "نعم"]),
        ("यह किताब है। वह भी॥ हाँ", ["यह किताब है।", "वह भी॥", "हाँ"]),
        ("Լավ է։ Այո։", ["Լավ է։", "Այո։"]),
        ("นี่คือหนังสือ\nนั่นด้วย", ["นี่คือหนังสือ", "นั่นด้วย"]),
        ("Lilies are toxic.Cats die of them.", ["Lilies are toxic.", "Cats die of them."]),
        (
            "https://a.org/toxic.Cats and foo.Bar() of Node.js.",
            ["https://a.org/toxic.Cats and foo.Bar() of Node.js."],
        ),
        ("He left the U.S. In 1990 he was back.", ["He left the U.S.", "In 1990 he was back."]),
        (
            "It was Acme Inc. They left at 6 p.m. It rained.",
            ["It was Acme Inc.", "They left at 6 p.m.", "It rained."],
        ),
        ("It needs vitamin C. Its lack harms.", ["It needs vitamin C.", "Its lack harms."]),
        (
            "He left Washington, D.C. Residents voted.  It ended.",
            ["He left Washington, D.C.", "Residents voted."],
        ),
        (
            "The U.S. Senate met. At 5 a.m. Mr. A. Li left.",
            ["The U.S. Senate met.", "At 5 a.m. Mr. A. Li left."],
        ),
        (
            "See No. 5. Did he? No. It was Ed. Brown.",
            ["See No. 5.", "Did he?", "No.", "It was Ed. Brown."],
        ),
        (
            "Two of Yahoo! Labs came. Stop! The end.",
            ["Two of Yahoo! Labs came.", "Stop!", "The end."],
        ),
        ("1) The mill broke 2) The dam broke", ["1) The mill broke", "2) The dam broke"]),
        ("a. The mill b. The dam c. The weir", ["a. The mill", "b. The dam", "c. The weir"]),
        ("1.) The mill. 2.) The dam.", ["1.) The mill.", "2.) The dam."]),
        ("• The mill • The dam", ["• The mill", "• The dam"]),
        (
            "It has parts: 2) Ann left 3) Ben stayed",
            ["It has parts: 2) Ann left 3) Ben stayed"],
        ),  # begins with no first
        ("In room 1) Ann sat 2) Ben stood", ["In room 1) Ann sat 2) Ben stood"]),
        (
            "It asks for (a) notice and (b) a hearing.",
            ["It asks for (a) notice and (b) a hearing."],
        ),
        (
            "It runs north. [17] It ends. iPhone sales grew.",
            ["It runs north. [17]", "It ends.", "iPhone sales grew."],
        ),
        (
            "He . . . left. She stayed . . . . It rained.",
            ["He . . . left.", "She stayed . . . .", "It rained."],
        ),
        ("Լավ է: Այո: Πού είναι; Εδώ.", ["Լավ է:", "Այո:", "Πού είναι;", "Εδώ."]),
        ("እንዴት ነህ፧ሰላም ነው።ደህና။နေကောင်း။", ["እንዴት ነህ፧", "ሰላም ነው።", "ደህና။", "နေကောင်း။"]),
        (
            "It is 11 g. Helene made it. It is 20 °C. Ann left.",
            ["It is 11 g.", "Helene made it.", "It is 20 °C."],
        ),
        (
            "Er kam am 3. Mai 1884. Im 19. Jahr ging er.",
            ["Er kam am 3. Mai 1884.", "Im 19. Jahr ging er."],
        ),
        (
            "I am 30. My oil is no. 4. He said no. Ann left.",
            ["I am 30.", "My oil is no. 4.", "He said no."],
        ),
        (
            "It opens at 5 p.m. Dogs stay. It ends at 3:15 P.M. Go.",
            ["It opens at 5 p.m.", "Dogs stay."],
        ),
        (
            "It is 5 p.m. Eastern. Or 7 p.m. Monday. Or 6 p.m. GMT.",
            ["It is 5 p.m. Eastern.", "Or 7 p.m. Monday."],
        ),
        (
            "On Monday at 5 p.m. Ann Lund read the 6 p.m. News.",
            ["On Monday at 5 p.m. Ann Lund read the 6 p.m. News."],
        ),
        (
            'He said: "It is late. We go." It rained.',
            ['He said: "It is late.', 'We go."', "It rained."],
        ),
        (
            "it closed in 1998. the rest is open ... and so on. e.g. the mill",
            ["it closed in 1998.", "the rest is open ... and so on. e.g. the mill"],
        ),
        ("no end", ["no end"]),
        ("", []),
    ],
)
def test_sentence_ends(text: str, expected: list[str]) -> None:
    assert cut(text)[: len(expected)] == expected


def test_a_sentence_over_the_limit_is_cut_between_words() -> None:
    assert cut("aaa bbb ccc ddd. End.", 8) == ["aaa bbb", "ccc ddd.", "End."]
    assert cut("abcdefghij kl.", 4) == ["abcd", "efgh", "ij", "kl."]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The tower was finished in 1889 and stands in Paris.", "en"),
        ("Er wurde 1899 in Essex geboren und starb 1980.", "de"),
        ("Il est né en 1899 à Leytonstone et mort en 1980.", "fr"),
        ("Он родился в 1899 году и умер в 1980 году.", "ru"),
        ("这是书。那也是。", "zh"),
        ("これは本です。", "ja"),
        ("هذا كتاب قديم جدا.", "ar"),
        ("यह किताब है। वह भी।", "hi"),
        ("นี่คือหนังสือเล่มเก่า", "th"),
        ("Psycho", None),
        ("Kyoto, Osaka, Tokyo", None),
        ("1960 | 5,895 m", None),
        ("", None),
    ],
)
def test_a_language_is_named_only_where_it_is_certain(text: str, code: str | None) -> None:
    assert detect(text) == code
    assert is_english(text) == (code in (None, "en"))


@given(st.text(max_size=200))
def test_any_text_has_a_known_language_or_none(text: str) -> None:
    assert detect(text) in (None, *LANGUAGES)


def test_a_long_gap_before_a_mark_is_read() -> None:
    text = "One." + " " * 60 + "\u201d two. Three."
    assert [text[start:end] for start, end in sentences(text)][-1] == "Three."
