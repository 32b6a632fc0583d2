"""Draw the pages of a run with the claims that each supports, contradicts or leaves open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from attribution.evidence.origins import sources as counted_sources
from attribution.policy import DecisionPolicy
from attribution.reports.cards import leans
from attribution.reports.html import Node, badge, data, el, link_to_sentence, look, plural, safe_url
from attribution.reports.trail import facts
from attribution.types import Evidence, Label, Page, Relation, Report
from attribution.verdicts import uncounted

SIDES: tuple[tuple[Relation, Label, str], ...] = (
    ("contradicted", "contradicted", "contradicts"),
    ("entailed", "supported", "supports"),
    ("no_relation", "unclear", "leaves open"),
)


def uses(report: Report) -> dict[str, dict[Relation, list[Evidence]]]:
    """Return, for each page, a piece of evidence for each claim that it speaks of, by the relation
    that decides.
    """
    best: dict[tuple[str, str], Evidence] = {}
    order = [relation for relation, _, _ in SIDES]
    for piece in _speaking(report):
        before = best.setdefault((piece.page_id, piece.claim_id), piece)
        if order.index(piece.relation) < order.index(before.relation):
            best[piece.page_id, piece.claim_id] = piece
    pages: dict[str, dict[Relation, list[Evidence]]] = defaultdict(
        lambda: {relation: [] for relation in order}
    )
    for (page, _), piece in best.items():
        pages[page][piece.relation].append(piece)
    return dict(pages)


def _speaking(report: Report) -> list[Evidence]:
    """Return the passages that say something about their claim; what does not count leaves it open."""
    of_claim: dict[str, list[Evidence]] = defaultdict(list)
    for piece in report.evidence:
        of_claim[piece.claim_id].append(piece)
    policy = DecisionPolicy.of(report.settings)
    alone = {id(piece) for pieces in of_claim.values() for piece in uncounted(pieces, policy)}
    open_ = {"relation": "no_relation"}
    speaking = (e for e in report.evidence if e.relation != "no_relation" or leans(e))
    return [e.model_copy(update=open_) if id(e) in alone else e for e in speaking]


def source_list(report: Report) -> Node:
    """List the pages of a run, those that decide most claims first; pages without a passage stand
    below.
    """
    used = uses(report)
    numbers = {claim.id: n for n, claim in enumerate(report.claims, 1)}
    counts = {
        id: tuple(len(sides[relation]) for relation, _, _ in SIDES) for id, sides in used.items()
    }
    pages = sorted(
        (p for p in report.pages if p.id in used), key=lambda page: counts[page.id], reverse=True
    )
    others = [page for page in report.pages if page.id not in used]
    if not report.pages:
        return el("div", el("p", "No page was read."), class_="hint")
    return el(
        "div",
        el("p", f"With a passage about a claim: {counted_sources(pages)}.", class_="reason"),
        *(_page(page, used[page.id], numbers) for page in pages),
        el(
            "details",
            el("summary", f"{plural(len(others), 'page')} without such a passage"),
            el("ul", *(el("li", _title(page)) for page in others)),
        )
        if others
        else None,
        class_="panel-body sources",
    )


def _title(page: Page, at: Evidence | None = None) -> Node:
    """Draw the title, as a button where the text can be opened."""
    title = page.title or page.url
    if not page.text:
        return el("span", title, dir="auto")
    start = at.sentence[0] if at else 0
    place = f"{start},{start},{start},{start}"
    return el(
        "button",
        title,
        type="button",
        class_="open title",
        data_page=page.id,
        data_at=place,
        dir="auto",
    )


def _page(
    page: Page, sides: Mapping[Relation, Sequence[Evidence]], numbers: Mapping[str, int]
) -> Node:
    rows = []
    first = next(piece for relation, _, _ in SIDES for piece in sides[relation])
    for relation, label, verb in SIDES:
        if pieces := sides[relation]:
            claims = (
                el(
                    "button",
                    str(numbers[id]),
                    type="button",
                    class_=f"go v-{label}",
                    data_claim=id,
                    aria_label=f"Claim {numbers[id]}: show its evidence",
                )
                for id in sorted(
                    (p.claim_id for p in pieces if p.claim_id in numbers), key=numbers.__getitem__
                )
            )
            rows.append(el("p", badge(label, word=f"{verb} {len(pieces)}"), *claims, class_="uses"))
    return el(
        "article",
        el("div", _title(page, first), class_="head"),
        el("p", facts(page, first.sentence[0]), class_="facts"),
        *rows,
        class_="card",
    )


def source_text(report: Report, page: Page, at: int) -> dict[str, object]:
    """Return a page's text for the browser: its deciding sentences, each with the claims it was
    compared with.
    """
    numbers = {claim.id: n for n, claim in enumerate(report.claims, 1)}
    labels = {relation: label for relation, label, _ in SIDES}
    marks: list[tuple[int, int, list[Evidence]]] = []
    of_page = (e for e in _speaking(report) if e.page_id == page.id and e.claim_id in numbers)
    for piece in sorted(of_page, key=lambda e: (*e.sentence, numbers[e.claim_id])):
        start, end = piece.sentence
        if marks and start < marks[-1][1]:  # overlaps the one before: one mark for both
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]), [*marks[-1][2], piece])
        elif 0 <= start < end <= len(page.text):
            marks.append((start, end, [piece]))
    link = (
        link_to_sentence(page.url, page.text[at : at + 300].split("\n")[0])
        if page.kind == "web"
        else None
    )
    address = link or (safe_url(page.reference or page.facts_from) if page.kind != "web" else None)
    opener = el(
        "a",
        "Open the original ↗",
        href=address,
        target="_blank",
        rel="noopener noreferrer",
        class_="more",
    )
    head = el(
        "div",
        el("h3", page.title or page.url, dir="auto"),
        el("p", facts(page, at), class_="facts"),
        el("p", opener, class_="links") if address else None,
        class_="source-head",
    )
    return {
        "head": data(head),
        "page": page.id,
        "text": page.text,
        "breaks": page.breaks,
        "at": at,
        "marks": [
            {"at": [start, end], "claims": _marked(pieces, numbers, labels)}
            for start, end, pieces in marks
        ],
    }


def _marked(
    pieces: Sequence[Evidence], numbers: Mapping[str, int], labels: Mapping[Relation, Label]
) -> list[dict[str, object]]:
    """Return the claims of one mark, each once, contradicted ones first."""
    order = [relation for relation, _, _ in SIDES]
    found: dict[str, Evidence] = {}
    for piece in sorted(pieces, key=lambda e: order.index(e.relation)):
        found.setdefault(piece.claim_id, piece)
    return [
        {
            "id": id,
            "n": numbers[id],
            "label": labels[e.relation],
            "icon": look(labels[e.relation]).icon,
            "word": look(labels[e.relation]).word.lower(),
        }
        for id, e in found.items()
    ]
