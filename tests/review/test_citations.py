import json
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.pipeline.claims import segment
from attribution.review.citation_marks import find
from attribution.review.citations import Step, attach, check, saved
from attribution.review.support import CitationReport, CitedSources, support
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim, Judgement, Pair, Probabilities, Report
from tests.make import both, page

TOWER = "The Eiffel Tower was completed in 1889 for the World's Fair. Gustave Eiffel's company built it."
NILE = "The Nile flows north through Egypt. It ends in the Mediterranean Sea."
ANSWER = """The Eiffel Tower was completed in 1889 [1]. The Nile flows through Egypt [1][2].
The Nile ends in the Mediterranean Sea. Octopuses have three hearts [3]. Psycho was released in 1960 [4].

Sources:
[1] https://tower.example/eiffel
[2] https://nile.example/
[3] http://127.0.0.1:9/octopus
"""


def claims_of(answer: str) -> tuple[Claim, ...]:
    found = segment("", answer, Settings(segmenter="sentences")).claims
    return tuple(c.model_copy(update={"worthiness": "factual", "independent": True}) for c in found)


def on(answer: str, claims: Sequence[Claim] | None = None) -> list[tuple[str, str]]:
    """The words of each claim with the marks on it."""
    cited, claims = find(answer), claims or claims_of(answer)
    attached = attach(answer, cited.marks, claims, cited.lists)
    texts = {c.id: c.text for c in claims}
    return [
        (texts[i], " ".join(answer[cited.marks[n].start : cited.marks[n].end] for n in marks))
        for i, marks in attached.items()
    ]


def test_a_mark_stands_on_the_sentence_before_or_around_it() -> None:
    assert on("Tea is hot [1]. Milk is cold. [2] Ice is colder.[3]\n\n[4] Steam is hot.") == [
        ("Tea is hot.", "[1]"),
        ("Milk is cold.", "[2]"),
        ("Ice is colder.", "[3]"),
        ("Steam is hot.", "[4]"),
    ]
    assert on("Tea is hot [1]. [2]") == [("Tea is hot.", "[1] [2]")]
    assert on("Tea is hot.\n\n[1] https://a.org") == []


def test_a_mark_within_a_sentence_stands_on_the_claims_before_it() -> None:
    answer = "Tea is hot [1] and milk is cold [2]."
    first = Claim(id="a", text="tea", spans=((0, 10),), sentence=(0, 36))
    second = Claim(id="b", text="milk", spans=((19, 36),), sentence=(0, 36))
    assert on(answer, [first, second]) == [("tea", "[1]"), ("milk", "[2]")]
    whole = Claim(id="c", text="both", spans=((0, 36),), sentence=(0, 36))
    assert on(answer, [whole]) == [("both", "[1] [2]")]


def test_precision_leaves_out_what_the_others_do_not_need() -> None:
    """The three cases of ALCE's figure 3: needed together, enough alone, and superfluous."""

    def verify(pairs: Sequence[Pair]) -> list[Judgement]:
        def entailed(claim: str, text: str) -> bool:
            return all(part in text for part in claim.split("+"))

        return [
            Judgement(
                Probabilities(entailed=e, contradicted=0, no_relation=1 - e), (0, len(pair[1]))
            )
            for pair in pairs
            for e in [float(entailed(pair[0], pair[1]))]
        ]

    def sources(*texts: str) -> tuple[tuple[tuple[str, str], ...], ...]:
        return tuple(((text, ""),) if text else () for text in texts)

    held = [
        CitedSources("a+b", sources("a", "b")),
        CitedSources("a", sources("a", "x")),
        CitedSources("a", sources("a", "a")),
        CitedSources("a+b", sources("a", "b", "x")),
        CitedSources("a+b", sources("a", "x")),
        CitedSources("a", sources("a", "")),
        CitedSources("a", ()),
    ]
    made = support(held, verify, both(0.5))
    assert [s.together for s in made] == [True, True, True, True, False, True, False]
    assert [s.relevant for s in made[:4]] == [
        (True, True),
        (True, False),
        (True, True),
        (True, True, False),
    ]
    assert [s.precise for s in made] == [2, 1, 2, 2, 0, 1, 0]


@pytest.fixture
def report(settings: Settings, store: Store) -> Report:
    pages = (
        page(TOWER, "https://tower.example/eiffel/", "Eiffel Tower"),
        page("Nothing.", "https://x.example/", "X"),
    )
    store.cache.put_pages([page(NILE, "https://nile.example/", "Nile", fetched_at="2999-01-01")])
    made = Report(
        id="0123456789abcdef",
        created_at="2026-11-01T10:00:00+00:00",
        question="",
        answer=ANSWER,
        settings=settings.public(),
        versions={},
        claims=claims_of(ANSWER),
        pages=pages,
    )
    store.runs.save(made)
    return made


def test_a_check_says_of_each_claim_where_it_stands(
    report: Report, settings: Settings, store: Store
) -> None:
    *steps, result = check(report, settings, store)
    assert isinstance(result, CitationReport)
    assert [s for s in steps if isinstance(s, Step)][-1] == Step("judge", 4, 4)
    assert [c.standing for c in result.claims] == [
        "cited_supported",
        "cited_supported",
        "uncited_unsupported",
        "cited_unreachable",
        "cited_unreachable",
    ]
    outcomes = {(c.source, c.outcome, c.relevant) for c in result.citations}
    assert outcomes >= {
        ("1", "supported", True),
        ("1", "not_supported", False),
        ("2", "supported", True),
    }
    refused, unnamed = (next(c for c in result.citations if c.source == key) for key in "34")
    assert refused.outcome == "unreachable" and "public" in refused.reason
    assert unnamed.outcome == "unnamed" and unnamed.reason.startswith("The answer does not say")
    assert (result.figures.recall, result.figures.precision) == (2 / 3, 2 / 3)
    for citation in result.citations:
        if citation.evidence:
            text = TOWER if citation.source == "1" else NILE
            assert citation.evidence.text == text[citation.evidence.start : citation.evidence.end]
    assert saved(report, store) == result and all(not p.text for p in result.pages)
    edited = report.model_copy(update={"claims": report.claims[:2]})
    assert saved(edited, store) is None  # of other claims


def test_stopping_keeps_what_was_found(report: Report, settings: Settings, store: Store) -> None:
    stop = threading.Event()
    stop.set()
    *_, result = check(report, settings, store, stop)
    assert isinstance(result, CitationReport) and result.stopped and len(result.marks) == 5
    assert {c.standing for c in result.claims} == {"cited_unreachable", "uncited_unsupported"}


def test_a_deleted_run_takes_its_check_along(
    report: Report, settings: Settings, store: Store
) -> None:
    list(check(report, settings, store))
    store.runs.delete(report.id)
    assert saved(report, store) is None


def test_the_command_writes_json(report: Report, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("[4] https://nile.example/\n")
    out = tmp_path / "citations.json"
    assert (
        main(["citations", report.id, "--listed", str(tmp_path / "more.txt"), "--out", str(out)])
        == 0
    )
    body = json.loads(out.read_text("utf-8"))
    assert [c["outcome"] for c in body["citations"] if c["source"] == "4"] == ["not_supported"]
    assert body["figures"]["recall"] == 0.5 and {"marks", "sources", "claims"} <= set(body)
