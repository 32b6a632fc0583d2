"""A run to export: two claims with evidence, one without a place, and a page of a PDF."""

from attribution.edits import Edit, Reword
from attribution.reports import Exported
from attribution.types import Report, Verdict
from tests import make
from tests.make import assessment, claim, evidence, page, verdict

ANSWER = (
    "# Tower\n\nIt was **finished** in 1889 [1]. It is 300 m tall.\n\n- It stands in *Paris*.\n"
)
QUOTE = "The tower was finished in 1889."


def run(
    answer: str = ANSWER,
    question: str = "When was the tower finished?",
    text: str = QUOTE,
    title: str = "The tower",
    url: str = "https://example.org/tower",
    site: str = "example.org",
    spans: tuple[tuple[int, int], ...] | None = None,
) -> Report:
    """Every foreign text of it can be chosen."""
    if spans is None:
        spans = ((answer.find("It"), answer.find(".")),) if "It" in answer else ()
    first = claim(text, id="c1", spans=spans, enriched=f"{text} indeed")
    second = claim(text, "opinion", id="c2", spans=())
    pages = tuple(
        page(text, address, title, id=f"p{n}", site=site, published="2020-05-07", breaks=breaks)
        for n, (address, breaks) in enumerate(((url, ()), (f"{url}/other.pdf", (0,))))
    )
    whole = {"end": len(text), "text": text, "sentence": (0, len(text))}
    found = {"query": text, "searcher": "duckduckgo", "rank": 1}
    pieces = (
        evidence(first, 0.9, 0.05, "entailed", page_id=one.id, **whole, **found) for one in pages
    )
    not_checked = Verdict(claim_id="c2", label="not_checked", confidence=0.0, reason=text)
    return make.report(
        answer,
        id="0123456789abcdef",
        question=question,
        settings={"sources": ["web"], "threshold": 0.54},
        versions={"verifier": text, "pipeline": "3"},
        claims=(first, second),
        pages=pages,
        evidence=tuple(pieces),
        verdicts=(verdict(first), not_checked),
    )


def judged(report: Report, note: str = "") -> Report:
    """The run with verdicts of an analyst, who sees the first claim otherwise than the model."""
    own = tuple(assessment(claim, "contradicted", note) for claim in report.claims)
    return report.model_copy(update={"judgements": own})


def edited(report: Report) -> Report:
    """The run after an edit of its first claim."""
    claim = report.claims[0]
    edit = Edit(at="", change=Reword(claim_id=claim.id, text=claim.text), claims=(claim.id,))
    return report.model_copy(update={"edits": (edit,)})


def hostile(text: str, address: str = "https://example.org/tower") -> Exported:
    """A run in which every foreign text is this one."""
    long_enough = text or "x"
    texts = dict.fromkeys(("answer", "question", "text", "title", "site"), long_enough)
    report = run(**texts, url=address, spans=((0, len(long_enough)),))
    return Exported(edited(judged(report, long_enough)), title=long_enough, note=long_enough)
