import pytest

from attribution.review.citation_marks import find
from attribution.segmenters.sentence_by_sentence import Sentences
from attribution.settings import Settings
from attribution.text.marks import FORMS, MarkForm, listed, marks, name_of, without_names

FIRST, SECOND = "The mill at Orvale was rebuilt in granite", "It grinds nine hundred sacks a week"
# forms of the table in other clothes: self-written, as assistants write them
MORE = [
    "[1]",
    "[ 1 ]",
    "［1］",
    "[1, 2]",
    "[1][2]",
    "[1] [2]",
    r"\[1\]",
    "[#1]",
    "[1†L3-L9]",
    "[^1^]",
    "[^note]",
    "[source_1]",
    "[Doc 1]",
    "[doc1]",
    "[Document 2]",
    "(Source 1)",
    "(ref. 2)",
    "(refs. 1, 2)",
    "[citation:1]",
    "[cite: 1, 2]",
    "[web:1]",
    "([1])",
    "(see [1])",
    "**[1]**",
    "*[1]*",
    "^[1]",
    "【4:0†source】",
    "【2】",
    "【12†mill.md】",
    r"[\[2\]](https://example.org/b2)",
    "[^1](https://example.org/a)",
    "[1](https://example.org/a)",
    "[2](#ref-2)",
    "([example.org](https://example.org/mill?utm_source=chatgpt.com))",
    "([A](https://a.org/x), [B](https://b.org/y_(z)))",
    "[example+1](https://example.org/a)[example+2](https://example.org/b)",
    "(<https://example.org/a>)",
    "(https://example.org/very/long/path?id=1&b=2, https://example.org/c)",
    "(via [Mill Guide](https://example.org))",
    "\ue200cite\ue202turn0search3\ue202turn0search8\ue201",
    "\ue200filecite\ue202turn2file0\ue202L10-L20\ue201",
    "\ue202turn0file1",
    r"\ue200cite\ue202turn0news2\ue201",
    r"\ue202turn0file1",
    "citeturn1view0",
    ":contentReference[oaicite:12]{index=12}",
    "【oaicite:3】",
    "(mill.docx)",
    "[mill.pdf, p. 3]",
    "(mill.pdf, p. 3; river.txt)",
    "(mill-summary.docx, note 1)",
    "(Source: mill.md)",
    "[Source: The Mill, p. 2]",
    "(Quelle: Mühlenbuch)",
    "(Rossi & Doe, 2020)",
    "(Rossi and Doe 2019a, 2019b)",
    "(see Rossi et al., 2020, pp. 4–6)",
    "(Rossi, in press)",
    "(Rossi, 2020; Doe et al., 2019)",
    "*(Mill Guide, 2021)*",
    "(World Mill Organization, 2021)",
    "(DOI: 10.1000/182)",
    "doi:10.1000/182",
    "(arXiv:2004.01234)",
    "<sup>[2]</sup>",
    "<sup>1, 2</sup>",
    '<sup><a href="#n1">1</a></sup>',
    "²",
    "²˒³",
    "[x:1]",
    "[note 2]",
    "[fn1]",
    "[ibid.]",
    '<a href="#fn1">[1]</a>',
    "[mill.srt]",
    "(mill.vtt, 0:12)",
    "(mill.xlsx, sheet 2)",
    "(mill.epub, ch. 2)",
    "(mill.json)",
    "[3, 0:12]",
    "[0:12–0:15]",
    "[00:00:12,000 --> 00:00:15,000]",
    "^[1]^",
    "[^1]↩",
    "[[1](https://example.org/a)]",
    "[[1](https://a.org), [B](https://b.org)]",
    "\u200b[\u200b1\u200b]",
    "【4:2†mill.pdf】",
    "(mill.pptx, slide 4)",
    "[Source 1, Source 2]",
    "(see https://example.org/a)",
    "(log.xlsx, row 18)",
    "[source]",
    "[citation needed]",
    "[p. 4]",
    "(see p. 12)",
    "[Mill Guide, pp. 4-6]",
    "[S1]",
    "[S2, S3]",
    "[S1][S4]",
    "[abc1]",
    "[KB-7]",
    "[chunk-12]",
    "[ID:0]",
    "[doc:3]",
    "[handbook:c12]",
    "[3f2a9c1b]",
    "[doc_1:chunk_3]",
    "[manual.md:12]",
    "[manual.md#L3-L4]",
    "(docs/manual.pdf:page 5)",
    "(manual.md:12-14)",
    "[citation:Manual](https://example.org/m)",
    "[Source: Manual](https://example.org/m)",
    "[Data: Reports (5)]",
    "[@lind2020]",
    "[see @okoro2019]",
    "[[@lind2020]]",
    r"\cite{ode}",
    r"~\citep[p. 4]{ode, lind}",
    "[Lin90]",
    "[Ode+01]",
    "(Lind, 2008, chap. 3)",
    "(Lind, 2008, pp. 40-41; see also Ode, 2011, chap. 3)",
    "(§ 12 Abs. 2)",
]
SPECIAL = (
    "12",
    "359",
    "(1, 2)",
    "(12:34)",
    "[Annual Report 2023]",
    "*Source: Annual report 2023.*",
    "https://example.org/b",
    "Travel Guide+2",
    "(Rossi 31)",
    "^1",
    "Reuters",
)
# forms that stand in one place alone, tested below
EXAMPLES = sorted(
    {
        row.example
        for row in FORMS
        if row.form not in ("", "text") and not (row.words or row.listed or row.run)
    }
    - set(SPECIAL)
    | set(MORE)
)
AFTER_WORDS = [
    e for e in EXAMPLES if e != "[Travel Guide](https://example.org/b)"
]  # within a sentence it is words


def texts(answer: str) -> list[str]:
    claims = Sentences(Settings()).segment("", answer).claims
    for claim in claims:
        for start, end in claim.spans:
            left = iter(answer[start:end])
            assert all(c in left for c in claim.text.replace(" ", ""))
    return [claim.text for claim in claims]


BOTH = [f"{FIRST}.", f"{SECOND}."]


BEFORE = [
    ("{0} {m}. {1}.", BOTH),
    ("{0}. {1} {m}.", BOTH),
    ("- {0} {m}.\n- {1}.", BOTH),
    ("> {0} {m}. {1}.", BOTH),
    ("**{0} {m}.** {1}.", BOTH),
    ("“{0} {m}.” {1}.", [f"“{FIRST}.”", BOTH[1]]),
    ("{0} {m}, as said.", [f"{FIRST}, as said."]),
    ("{0} {m} {m}. {1}.", BOTH),
    ("大橋於一九六二年開通 {m}。全長二百公尺。", ["大橋於一九六二年開通。", "全長二百公尺。"]),
    ("Мост открыт в мае {m}. Он длинный.", ["Мост открыт в мае.", "Он длинный."]),
    ("افتتح الجسر في مايو {m}. طوله مئتا متر.", ["افتتح الجسر في مايو.", "طوله مئتا متر."]),
]
BEHIND = [
    ("{0}. {m} {1}.", BOTH),
    ("{0}.{m} {1}. {m}", BOTH),
    ("{0}. {m}\n\n{1}.{m}", BOTH),
    ("It cost 900. {m} {1}.", ["It cost 900.", BOTH[1]]),
    ("It opened in 1962.{m} {1}.", ["It opened in 1962.", BOTH[1]]),
    ("- {0}. {m}\n1. {1}.{m}\n", BOTH),
    ("“{0}.” {m} {1}.", [f"“{FIRST}.”", BOTH[1]]),
    ("Мост открыт в мае. {m} Он длинный.", ["Мост открыт в мае.", "Он длинный."]),
]


@pytest.mark.parametrize("mark", AFTER_WORDS)
def test_a_mark_before_the_stop_is_no_part_of_the_claim(mark: str) -> None:
    for answer, expected in BEFORE:
        if not (mark.startswith("— ") and "said" in answer):  # this form ends its sentence
            assert texts(answer.format(FIRST, SECOND, m=mark)) == expected


@pytest.mark.parametrize("mark", EXAMPLES)
def test_a_mark_behind_the_stop_ends_the_sentence(mark: str) -> None:
    for answer, expected in BEHIND:
        if not (mark.startswith("— ") and (".{m}" in answer or "{m} " in answer)):  # and its line
            assert texts(answer.format(FIRST, SECOND, m=mark)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"{FIRST}.12 {SECOND}.3", BOTH),
        (f"{FIRST}.[1], [2] {SECOND}.¹, ²", BOTH),
        (
            "He hired ten men.12 He left for Cork.2 See vol.3",
            ["He hired ten men.", "He left for Cork.", "See vol.3"],
        ),
        (f"{FIRST}. [A](https://a.org)[B+2](https://b.org) {SECOND}.", BOTH),
        (
            f"“{FIRST}” (Rossi 31). “{SECOND}.” (Doe 112) It is.",
            [f"“{FIRST}”.", f"“{SECOND}.”", "It is."],
        ),
        (f"[cite_start]{FIRST}. [cite: 1, 2] [cite_start]{SECOND}. [cite: 3]", BOTH),
        (f'<cite index="1-2">{FIRST}.</cite> {SECOND}.', BOTH),
        (f"{FIRST}. https://example.org/a {SECOND}.", BOTH),
        (f"<think>I recall 1950. Or\n\n- 1951?</think>{FIRST}.", BOTH[:1]),
        (f"The user asks.\n\nI recall 1950.\n</think>\n\n{FIRST}.", BOTH[:1]),
        (
            'He, entity["people", "Ada Low", 0], is said to be old.',
            ["He, Ada Low, is said to be old."],
        ),
        (
            'By \ue200entity\ue202["people","Ada Low",0]\ue201 it was said.',
            ["By Ada Low it was said."],
        ),
        (
            f"{FIRST} [1] and [the guide](https://example.org) says so (https://b.org/x).",
            [f"{FIRST} and the guide says so."],
        ),
        ("Its owner is [Ada Low](https://example.org).", ["Its owner is Ada Low."]),
        ("He works at [Booking.com](https://booking.com).", ["He works at Booking.com."]),
        (
            "The field is 5 m² and 10<sup>6</sup> wide, E = mc².",
            ["The field is 5 m² and 10<sup>6</sup> wide, E = mc²."],
        ),
        ("¹⁴C dating gave 10⁻³ in Paris (1900).", ["¹⁴C dating gave 10⁻³ in Paris (1900)."]),
        (
            "He won (Paris, May 1900) in the U.S. [1] and left.",
            ["He won (Paris, May 1900) in the U.S. and left."],
        ),
        (
            "It is 2 km longciteturn0search3. It is 9 m highfileciteturn2file0.",
            ["It is 2 km long.", "It is 9 m high."],
        ),
        (f"{FIRST}.\nReuters\n+1\nBBC News+2\n{SECOND}.Wikipedia+1", BOTH),
        (
            "🎟️ **Tickets**: They are free [1].\n🕘 **Open:** It is open.",
            ["They are free.", "It is open."],
        ),
        (
            "- **Fee:** It is free. **Open:** It is.\n\n1️⃣ **First:** It is old.",
            ["It is free.", "It is.", "It is old."],
        ),
        (f"[cite_start]{FIRST}.[cite_end] {SECOND}[cite_end].", BOTH),
        (f"{FIRST}.^1 {SECOND}.^1,2", BOTH),
        (f"{FIRST}.¹² _{SECOND}_[1].", BOTH),
        (f"{FIRST}. +1 {SECOND}.+2", BOTH),
        (f"{FIRST}.\nwikipedia+2\n{SECOND}.en.wikipedia+1", BOTH),
        (f"{FIRST}.\nReuters\n\n{SECOND}.\nen.example.org", BOTH),
        ("It was designed by\nAda Low", ["It was designed by Ada Low"]),
        (f"{FIRST}. (12:34) {SECOND}. (1:02:03)", BOTH),
        (f"{FIRST}. [Annual Report 2023] {SECOND}.[Mill book, 2021]", BOTH),
        (
            (
                "It began late (12:34), at [sic] noon. He ran it (2:03:10). Energy is mass times "
                "speed^2, as [3:16] says."
            ),
            [
                "It began late (12:34), at [sic] noon.",
                "He ran it (2:03:10).",
                "Energy is mass times speed^2, as [3:16] says.",
            ],
        ),
        ("It broke.(1) It fell in May.(2)", ["It broke.", "It fell in May."]),
        (
            "It cost £40 m.2 It is 12 ft.3 It fell in May.1",
            ["It cost £40 m.", "It is 12 ft.", "It fell in May."],
        ),
        (
            f'{FIRST}. ([A][1]). {SECOND}. ([A][1], [B][b])\n\n[1]: https://a.org/x?a=b "A | B"\n[b]: <https://b.org>',
            BOTH,
        ),
        (f"{FIRST}. [A][1] {SECOND} [(B)][1].\n\n[1]: https://a.org", BOTH),
        (
            "It is run by the [Mill Trust][1]. It [broke][b].\n\n[1]: https://a.org/x",
            ["It is run by the Mill Trust.", "It [broke][b]."],
        ),
        (f"{FIRST} (1). {SECOND} (2, 3).\n\nSources:\n[1] Mill book.\n[2] Saws.\n[3] Logs.", BOTH),
        (
            (
                f"{FIRST}.\nmill-accounts\n+1\n{SECOND}.\n\nmill-accounts\n+2\n\n{SECOND[:2]} "
                "fell.\nmill-log"
            ),
            [*BOTH, "It fell."],
        ),
        (
            (
                f"{FIRST}.\n\n*Source: Annual report 2023.*\n\n**Sources:** Log, p. 3; Mill "
                f"book\n\n{SECOND}."
            ),
            BOTH,
        ),
        ("Source: Lake Orvale is in Tarn.", ["Source: Lake Orvale is in Tarn."]),
        (f"{FIRST}.¹ {SECOND}.²\n¹ Annual report 2023\n² Annual summary, p. 3", BOTH),
        (f"{FIRST}.\n\nRelated\nWho was Ada Low?\nWhen was it built?", BOTH[:1]),
        (f"{FIRST}.\n\n**Key Citations**\n- Mill history\n- Mill log", BOTH[:1]),
        (
            (
                "🔹 Fee: It is free.\n\nTL;DR: It is.\n\n*Note:* It is old.\n\nStep 2: He left "
                "it.\n\n**A:** She left it."
            ),
            ["It is free.", "It is.", "It is old.", "He left it.", "She left it."],
        ),
        (
            "**Funding** – The city paid. **Cost** — It cost 5 million.",
            ["The city paid.", "It cost 5 million."],
        ),
        (
            "**1889:** The mill opened.\n\n- **May 1889** – It fell.\n\n1890: It burned.",
            ["1889: The mill opened.", "May 1889 – It fell.", "1890: It burned."],
        ),
        (f"{FIRST}. Reuters +2 {SECOND}. BBC News +1", BOTH),
        (f"Thought for 12 seconds\n{FIRST}.\n\nCopy\nShare", BOTH[:1]),
        (
            f"ChatGPT said:\nReasoned about mills for 1m 4s\nSearched 4 sites\n\n{FIRST}.\nExport",
            BOTH[:1],
        ),
        (f"![A mill](x.png) {FIRST}. The ![b](https://b.org/b.png) mill.", [BOTH[0], "The mill."]),
        (f"<think>I recall 1950.\n\n{FIRST}.", []),
        (f"{FIRST}. <think>Hm.</think> {SECOND}.\n<thinking>\nSo.\n</thinking>", BOTH),
        (
            f"{FIRST} [inventory, no. 8]. {SECOND} (the inventory).\n\nSources:\n- Inventory",
            [BOTH[0], f"{SECOND} (the inventory)."],
        ),
        (f"{FIRST} [mill](https://mill.example.org/a). {SECOND}.", BOTH),
        ("The area is 10^2, x^2, 5 km^2 and sin^2.", ["The area is 10^2, x^2, 5 km^2 and sin^2."]),
        ("Here a[1] is the first.", ["Here a[1] is the first."]),
        ("In 1990.12 rooms were built.", ["In 1990.12 rooms were built."]),
        (
            (
                f"{FIRST} (1). {SECOND}. (1, 2)\n\nWorks cited\n\n(1) Da Cunha, M. Mills.\n(2) The "
                "sacks."
            ),
            BOTH,
        ),
        (
            f"{FIRST} (1–2). It (1) saws.\n\nSources:\n1. Mill book.\n2. Saw book.",
            [BOTH[0], "It (1) saws."],
        ),
        (
            f"{FIRST} [1]. It (1) saws or (2).\n\nSources:\n[1] Mill book.\n[2] Saws.",
            [BOTH[0], "It (1) saws or (2)."],
        ),
        ("He took a pill. Vitamin B+2 was next.", ["He took a pill.", "Vitamin B+2 was next."]),
        ("Version 2.12 is out. No. 12 is next.", ["Version 2.12 is out.", "No. 12 is next."]),
        ("- `a[1]` is code, f(x) (see below) is not.", ["a[1] is code, f(x) (see below) is not."]),
    ],
)
def test_marks_of_one_place_and_what_only_looks_like_one(answer: str, expected: list[str]) -> None:
    assert texts(answer) == expected


@pytest.mark.parametrize(
    "row", [row for row in FORMS if row.form == "text"], ids=lambda row: row.example
)
def test_what_looks_like_a_mark_is_text(row: MarkForm) -> None:
    answer = f"It is {row.example}, so [1]."
    assert row.pattern.search(answer)
    assert [mark.match[0] for mark in marks(answer)] == ["[1]"]


@pytest.mark.parametrize(
    "row", [row for row in FORMS if row.form != "text"], ids=lambda row: row.example
)
def test_the_example_of_a_form_is_found_by_it(row: object) -> None:
    (form,) = (f for f in FORMS if f is row)
    places = (
        f"{before}{form.example}"
        for before in (
            "word ",
            "It is ancient. ",
            "It is ancient.",
            "“Ancient” ",
            "It is.\n",
            "- ",
            "use",
        )
    )
    answer = next(place for place in places if form.pattern.search(place))
    if form.example.startswith("<think>"):
        answer = form.example
    if form.example == "359":  # behind words
        answer = "use359. It is calm359."
    else:
        answer += f" It is. {form.example}" * form.twice
    answer += (
        "\n\nSources:\n(1) A\n[a] The guide, https://example.org/b\nRossi, J. (2020). The mill.\n"
        * form.listed
    )
    mark, *others = marks(answer, frozenset(["annual report"]))
    assert len(others) == form.twice
    assert mark.row is form
    assert answer[mark.start : mark.end].strip() == form.example
    if form.form:
        found = find(answer, names=frozenset(["annual report"])).marks
        assert [m.form for m in found] == [form.form] * (1 + form.twice)


def test_a_name_in_brackets_is_a_mark_if_the_run_has_such_a_source() -> None:
    names = frozenset(map(name_of, ["reports/Annual_Report.pdf", "trial-summary.docx"]))
    answer = (
        f"{FIRST} (annual report, note 3). {SECOND} [trial summary; Annual Report] (as planned)."
    )
    assert texts(without_names(answer, names)) == [BOTH[0], f"{SECOND} (as planned)."]
    assert [m.sources for m in find(answer, names=names).marks] == [
        ("annual report, note 3",),
        ("trial summary", "annual report, note 3"),
    ]
    assert len(without_names(answer, names)) == len(answer)
    assert not find(answer).marks


BOOKS = (
    "Smith, J. (2019a). One.\nSmith, J. (2019b). Two\n    and more.\n"
    "Low, A., & Doe, K. (in press). Three.\n———. (1999). Four.\n"
)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "x\n\nReferences\n\n" + BOOKS,
            [
                "Smith, J. (2019a). One.",
                "Smith, J. (2019b). Two and more.",
                "Low, A., & Doe, K. (in press). Three.",
                "———. (1999). Four.",
            ],
        ),
        (
            (
                "x\n\nReferences\n\nSmith, J. (2019). A title that\ngoes on. Press.\n\nLow, A. "
                "(2020). B."
            ),
            ["Smith, J. (2019). A title that goes on. Press.", "Low, A. (2020). B."],
        ),
        (
            "x\n\n### 📚 References & Further Reading\n- A, https://a.org\n- B, https://b.org",
            ["A, https://a.org", "B, https://b.org"],
        ),
        (
            "x\n\n**Learn more:**\n1. [A](https://a.org)\n2. [B](https://b.org)",
            ["[A](https://a.org)", "[B](https://b.org)"],
        ),
        ("x\n\nLiteratur:\nLow, A. (2020): Mühlen. Wien.", ["Low, A. (2020): Mühlen. Wien."]),
        (
            "x [1]\n\n---\n\n[1] Mill book, vol. 4.\n[2] Accounts of Breda.",
            ["Mill book, vol. 4.", "Accounts of Breda."],
        ),
        (
            "x ¹\n\n***\n\n¹ Mill notes, no. 31.\n² The mill book.",
            ["Mill notes, no. 31.", "The mill book."],
        ),
        ("x <sup>1</sup>\n\n***\n<sup>1</sup> Mill notes, no. 31.", ["Mill notes, no. 31."]),
        (
            "x [1, 2]\n\n---\n\n1. Mill notes, no. 31.\n2. The mill book.",
            ["Mill notes, no. 31.", "The mill book."],
        ),
        (
            "x <sup>1,2</sup>\n\n1. Mill notes, list 2023\n2. The mill book",
            ["Mill notes, list 2023", "The mill book"],
        ),
        (
            "x [1]\n\n---\n\n[1] Mill notes\n[2] B, https://b.org",
            ["Mill notes", "B, https://b.org"],
        ),
        (
            "x[^1^]\n\nSource: Talk with Bing, 4/9/2024\n(1) Mill notes. https://a.org",
            ["Mill notes. https://a.org"],
        ),
        ("x (1)\n\n**Sources**\n\n| No. | Title |\n|:-:|:--|\n| (1) | Mills |", ["Mills"]),
        ("x (1)\n\n---\n(1) Mill notes, no. 31.", ["Mill notes, no. 31."]),
        ("x [1]\n\n---\n\n1. The dam is high.\n2. The road is long.", []),
        ("x [1]\n\n---\n1. mill.md\n2. [B](https://b.org)", ["mill.md", "[B](https://b.org)"]),
        ("x\n\nSources\n---\n(1) mill.md\n(2) river.md", ["mill.md", "river.md"]),
        (
            "x\n\n## Sources\n| # | Source |\n|---|---|\n| 1 | [A](https://a.org) |\n| [2] | B |",
            ["[A](https://a.org)", "B"],
        ),
        (
            "x\n\n<details>\n<summary>Sources</summary>\n\n1. mill.md\n2. B\n\n</details>\n",
            ["mill.md", "B"],
        ),
        ("x\n\n参考资料：\n1. 橋 https://a.org", ["橋 https://a.org"]),
        ("x\n\n## Learn more\n\nThe mill is open to all.", []),
        ("x\n\nIn three steps:\n1. Open it.\n2. Close it.", []),
    ],
)
def test_a_list_of_sources_has_its_entries_whole_and_no_claim(
    answer: str, expected: list[str]
) -> None:
    found = listed(answer)
    assert [s.text.strip() for s in found.sources] == expected
    if expected:
        assert texts(answer) == ["x"]
        assert len(found.regions) == 1


@pytest.mark.parametrize(
    ("mark", "keys"),
    [
        ("(Smith 2019a, 2019b)", "12"),
        ("(Low & Doe, in press)", "3"),
        ("Smith (2019a: 12)", "1"),
        ("Smith's (2019b)", "2"),
        ("Smith et al. [2019b]", "2"),
    ],
)
def test_authors_and_years_name_the_entries_of_the_list(mark: str, keys: str) -> None:
    assert [m.sources for m in find(f"Mills are old {mark}.\n\nReferences\n\n{BOOKS}").marks] == [
        tuple(keys)
    ]
