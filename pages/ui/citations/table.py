"""The citations of an answer as nodes: a sentence with the figures, and a row for each claim and source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from attribution.citations.marks import Mark
from attribution.citations.report import Citation, CitationReport, CitedClaim, Outcome, Standing
from attribution.types import Claim, Label, Page, Report
from pages.ui.html.links import link_to_sentence, safe_url
from pages.ui.html.render import Child, Node, as_sentence, badge, el, plural, table

_WORDS = re.compile(r"\[++([^\[\]]++)\]++[(\[]")
OUTCOMES: dict[Outcome, tuple[Label, str]] = {
    "supported": ("supported", "Supported"),
    "contradicted": ("contradicted", "Contradicted"),
    "not_supported": ("no_relation", "Not supported"),
    "unreachable": ("missing", "Could not be read"),
    "unnamed": ("missing", "No source named"),
}
STANDINGS: dict[Standing, tuple[Label, str]] = {
    "cited_supported": ("supported", "cited and supported"),
    "cited_not_supported": ("no_relation", "cited, not supported"),
    "cited_unreachable": ("missing", "cited, source not read"),
    "uncited_supported": ("unclear", "not cited, supported elsewhere"),
    "uncited_unsupported": ("not_checked", "not cited, not supported"),
}


def result_view(result: CitationReport, report: Report) -> Node:
    """The whole result."""
    counts = Counter(claim.standing for claim in result.claims)
    chips = (badge(STANDINGS[k][0], word=f"{counts[k]} {STANDINGS[k][1]}") for k in STANDINGS if counts[k])
    heads = ("Mark", "Source", "Claim", "Result", "Passage")
    return el(
        "div",
        el("p", summary(result), class_="ax-quiet-inline", role="status"),
        el("p", *chips, class_="ax-legend"),
        table(heads, _rows(result, report), class_="ax-table ax-citations"),
    )


def summary(result: CitationReport) -> str:
    """Recall and precision with what they are shares of."""
    figures, parts = result.figures, []
    if figures.recall is not None:
        verb, whose = ("is", "its") if 1 in (figures.supported, figures.claims) else ("are", "their")
        parts.append(
            f"{figures.supported} of {plural(figures.claims, 'claim')} {verb} supported by {whose} citations "
            f"(recall {figures.recall:.2f})."
        )
    if figures.precision is not None:
        parts.append(
            f"{figures.useful} of {plural(figures.citations, 'citation')} helped to support a claim "
            f"(precision {figures.precision:.2f})."
        )
    unread = sum(claim.standing == "cited_unreachable" for claim in result.claims)
    if unread:
        parts.append(f"Left out: {plural(unread, 'claim')} whose sources could not all be read.")
    if result.stopped:
        parts.append("The check was stopped early.")
    return " ".join(parts) or "No claim could be decided."


def _rows(result: CitationReport, report: Report) -> Iterator[list[Child]]:
    claims = {claim.id: (number, claim) for number, claim in enumerate(report.claims, 1)}
    pages = {page.id: page for page in result.pages}
    for cited in result.claims:
        number, claim = claims[cited.claim_id]
        own = [c for c in result.citations if c.claim_id == claim.id]
        for citation in own:
            yield _row(citation, cited, number, claim, result, report, pages)
        if not own:
            label, words = STANDINGS[cited.standing]
            marks = _marks(result, report, cited, None)
            yield [marks or "none", "", _claim(number, claim), badge(label, word=words.capitalize()), ""]
    for place in result.unattached:
        where = "It stands on no claim that was checked."
        yield [_written(report, result.marks[place]), "", where, badge("not_checked"), ""]


def _row(
    citation: Citation,
    cited: CitedClaim,
    number: int,
    claim: Claim,
    result: CitationReport,
    report: Report,
    pages: Mapping[str, Page],
) -> list[Child]:
    label, word = OUTCOMES[citation.outcome]
    piece = citation.evidence
    probability = None
    if piece and label in ("supported", "contradicted"):
        probability = max(piece.probabilities.entailed, piece.probabilities.contradicted)
    words = el(
        "div",
        badge(label, probability, word),
        *([] if piece else [el("p", as_sentence(citation.reason), class_="why")]),
    )
    quote = el("span", f"“{' '.join(piece.deciding_sentence.split())}”", dir="auto") if piece else None
    mark = _marks(result, report, cited, citation.source)
    return [mark, _source(citation, result, pages), _claim(number, claim), words, quote]


def _marks(result: CitationReport, report: Report, cited: CitedClaim, source: str | None) -> str:
    """The marks of a claim that name the source, as they are written."""
    of_claim = (result.marks[place] for place in cited.marks)
    named = [mark for mark in of_claim if source is None or source in mark.sources]
    return ", ".join(dict.fromkeys(_written(report, mark) for mark in named))


def _written(report: Report, mark: Mark) -> str:
    """The mark as a reader of the answer sees it: of a link its words."""
    text = " ".join(report.answer[mark.start : mark.end].split())
    if mark.form == "link" and (words := _WORDS.match(text)):
        text = words[1]
    return text if len(text) <= 40 else f"{text[:38]}…"


def _claim(number: int, claim: Claim) -> Node:
    return el("span", el("strong", f"{number}. "), claim.statement, dir="auto")


def _source(citation: Citation, result: CitationReport, pages: Mapping[str, Page]) -> Node | None:
    if citation.outcome == "unnamed":
        return None
    source = next(source for source in result.sources if source.key == citation.source)
    page = pages.get(citation.page_id)
    title = (page.title if page else "") or source.text or source.url or f"[{source.key}]"
    shown = title if len(title) <= 90 else f"{title[:88]}…"
    url = source.url or (page.url if page else "")
    if not safe_url(url):
        return el("span", shown, dir="auto")
    address = link_to_sentence(url, citation.evidence.deciding_sentence) if citation.evidence else url
    return el("a", shown, href=address or url, target="_blank", rel="noopener noreferrer", dir="auto")
