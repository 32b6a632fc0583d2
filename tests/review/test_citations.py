import json
from collections.abc import Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.fetching.fetcher import Fetcher
from attribution.pipeline.claims import segment
from attribution.review.citation_marks import attach, find
from attribution.review.citations import NUMBERS, check, citation_lines
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.store import Store
from attribution.types import Claim, Page, Report, SetAside
from tests import make
from tests.make import evidence, page, save_run, verdict
from tests.servers import Answer, http_server

TOWER = (
    "The Eiffel Tower was completed in 1889 for the World's Fair. "
    "Gustave Eiffel's company built it."
)
NILE = "The Nile flows north through Egypt. It ends in the Mediterranean Sea."
ANSWER = """The Eiffel Tower was completed in 1889 [1]. The Nile flows through Egypt [1][2].
The Nile ends in the Mediterranean Sea. Octopuses have three hearts [3].
Psycho was released in 1960 [4].

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
    texts = {claim.id: claim.text for claim in claims}
    rows = []
    for claim_id, indices in attach(answer, cited, claims).items():
        marks = (cited.marks[n] for n in indices)
        rows.append((texts[claim_id], " ".join(answer[m.start : m.end] for m in marks)))
    return rows


@pytest.mark.parametrize(
    ("answer", "attached"),
    [
        (
            "Tea is hot [1]. Milk is cold. [2] Ice is colder.[3]\n\n[4] Steam is hot.",
            [
                ("Tea is hot.", "[1]"),
                ("Milk is cold.", "[2]"),
                ("Ice is colder.", "[3]"),
                ("Steam is hot.", "[4]"),
            ],
        ),
        ("Tea is hot [1]. [2]", [("Tea is hot.", "[1] [2]")]),
        ("Tea is hot.\n\n[1] https://a.org", []),
    ],
)
def test_a_mark_belongs_to_the_sentence_before_or_around_it(
    answer: str, attached: list[tuple[str, str]]
) -> None:
    assert on(answer) == attached


def test_a_mark_within_a_sentence_belongs_to_the_claims_before_it() -> None:
    answer = "Tea is hot [1] and milk is cold [2]."
    first = Claim(id="a", text="tea", spans=((0, 10),), sentence=(0, 36))
    second = Claim(id="b", text="milk", spans=((19, 36),), sentence=(0, 36))
    assert on(answer, [first, second]) == [("tea", "[1]"), ("milk", "[2]")]
    whole = Claim(id="c", text="both", spans=((0, 36),), sentence=(0, 36))
    assert on(answer, [whole]) == [("both", "[1] [2]")]


@pytest.fixture
def report(settings: Settings, store: Store) -> Report:
    pages = (
        page(TOWER, "https://tower.example/eiffel/", "Eiffel Tower"),
        page("Nothing.", "https://x.example/", "X"),
    )
    store.cache.put_pages([page(NILE, "https://nile.example/", "Nile", fetched_at=now())])
    made = make.report(ANSWER, settings=settings.public(), claims=claims_of(ANSWER), pages=pages)
    save_run(store, made)
    return made


def test_a_check_says_of_each_claim_where_it_stands(
    report: Report, settings: Settings, store: Store
) -> None:
    result = check(report, settings, store)
    assert [claim.standing for claim in result.claims] == [
        "cited_supported",
        "cited_supported",
        "uncited_unsupported",
        "cited_unreachable",
        "cited_unreachable",
    ]
    assert [(c.source, c.outcome) for c in result.citations] == [
        ("1", "supported"),
        ("1", "not_supported"),
        ("2", "supported"),
        ("3", "unreachable"),
        ("4", "unnamed"),
    ]
    assert "public" in result.citations[3].reason
    assert result.figures.recall == 2 / 3
    assert result.figures.precision == 2 / 3
    pieces = [c.evidence for c in result.citations if c.evidence]
    assert len(pieces) >= 2
    for piece in pieces:
        text = TOWER if piece.text in TOWER else NILE
        assert piece.text == text[piece.start : piece.end]


def test_a_citation_agrees_with_the_run_s_own_evidence(
    report: Report, settings: Settings, store: Store
) -> None:
    """The run read the passage of the cited source as a contradiction: so does the check."""
    made = contradicted(report, report.pages[0])
    citation = check(made, settings, store).citations[0]
    assert (citation.claim_id, citation.source) == (made.claims[0].id, "1")
    assert citation.outcome == "contradicted"
    assert citation.evidence == made.evidence[0]


def contradicted(report: Report, of: Page) -> Report:
    """The run with its first claim contradicted by a page."""
    claim = report.claims[0]
    piece = evidence(claim, 0.0, 0.99, "contradicted", page_id=of.id, text=of.text)
    verdicts = (verdict(claim, "contradicted"),)
    return report.model_copy(update={"evidence": (piece,), "verdicts": verdicts})


def test_a_citation_never_says_the_opposite_of_its_claim_s_verdict(
    report: Report, settings: Settings, store: Store
) -> None:
    """The cited page supports the claim, and the run found it contradicted by another one."""
    other = contradicted(report, report.pages[1])
    citation = check(other, settings, store).citations[0]
    assert citation.source == "1"
    assert citation.outcome == "not_supported"
    assert citation_lines(other)[other.claims[0].id] == "Cites [1]: doesn't mention it."


def test_the_card_says_what_the_cited_sources_say(report: Report) -> None:
    first, second, *others = report.claims
    nile = page(NILE, "https://nile.example/", "Nile")
    pieces = (
        evidence(first, 0.99, 0.0, "entailed", page_id=report.pages[0].id, text=TOWER),
        evidence(second, 0.99, 0.0, "entailed", page_id=nile.id, text=NILE),
    )
    verdicts = tuple(verdict(claim) for claim in (first, second))
    changes = {"evidence": pieces, "verdicts": verdicts, "pages": (*report.pages, nile)}
    lines = citation_lines(report.model_copy(update=changes))
    assert lines[first.id] == "Cites [1]: says so."
    assert lines[second.id] == "Cites [1]: doesn't mention it, [2]: says so."
    other = evidence(first, 0.99, 0.0, "entailed", page_id=nile.id, text=NILE)
    changes |= {"evidence": (other, pieces[1])}
    lines |= citation_lines(report.model_copy(update=changes))
    assert lines[first.id] == "Cites [1]: doesn't mention it; [2] says so."
    changes["set_aside"] = SetAside(evidence=pieces[:1])
    lines |= citation_lines(report.model_copy(update=changes))
    assert lines[first.id] == "Cites [1]: its passage is excluded; [2] says so."
    said = [lines[claim.id] for claim in others if claim.id in lines]
    assert said == [
        "Cites [3]: isn't among the sources that were read.",
        "Cites [4]: the answer doesn't say what it is.",
    ]
    assert citation_lines(report.model_copy(update={"answer": "The Nile is long."})) == {}


def test_a_source_of_the_web_is_read_or_named_dead(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def respond(request: BaseHTTPRequestHandler) -> Answer:
        if request.path == "/doi/10.1000/a":  # the page that the DOI leads to
            return 200, {"Content-Type": "text/html"}, b"<p>At the farm, the milk is cold.</p>"
        return 410, {}, b""

    with http_server(respond) as server:
        answer = (
            "Tea is hot [1]. Milk is cold [2].\n\n"
            f"Sources:\n[1] {server.url('/gone')}\n[2] Doe 2009, doi:10.1000/a"
        )
        report = make.report(answer, claims=claims_of(answer))
        monkeypatch.setattr(
            "attribution.review.citations.Fetcher", partial(Fetcher, allow=lambda _: True)
        )
        local = {server.url("/doi/"): NUMBERS["https://doi.org/"]}
        monkeypatch.setattr("attribution.review.citations.NUMBERS", local)
        result = check(report, settings, store)
    assert [c.outcome for c in result.citations] == ["dead", "supported"]
    assert "removed" in result.citations[0].reason


def test_the_command_writes_json(report: Report, tmp_path: Path) -> None:
    out = tmp_path / "citations.json"
    assert main(["citations", report.id, "--out", str(out)]) == 0
    body = json.loads(out.read_text("utf-8"))
    assert [c["outcome"] for c in body["citations"] if c["source"] == "4"] == ["unnamed"]
    assert {"marks", "sources", "claims", "figures"} <= set(body)
