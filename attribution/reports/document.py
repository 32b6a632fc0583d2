"""A run as a web page in one file: the highlighted answer, and beside it the evidence of every
claim.

It is drawn with the nodes of the Explore page and needs no script: numbers in the answer lead to
the evidence and back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from attribution.reports import Exported, answer, cards
from attribution.reports.html import (
    STATIC,
    Node,
    Text,
    Tree,
    document,
    el,
    look,
    style_class,
    texts,
    tokens_css,
)
from attribution.reports.trail import date
from attribution.review.judgements import agreement
from attribution.review.quotations import quotations
from attribution.types import BADGES, Page, Report
from attribution.verifiers.calibration import badge_of

_STYLES = (STATIC / "answer.css", STATIC / "document.css")
Badges = Mapping[str, str]  # by claim
FOLDED = 4  # claims with nothing related, at most, that are not folded


def write(exported: Exported) -> str:
    """The HTML of the file."""
    report = exported.report
    pages = {page.id: page for page in report.pages}
    verdicts = {v.claim_id: v for v in report.verdicts}
    badges = {claim.id: badge_of(verdicts.get(claim.id), report) for claim in report.claims}
    body = el(
        "div",
        _about(exported, badges),
        el("div", _answer(report, badges), _panels(exported, pages), class_="sheet"),
        el(
            "section",
            el("h2", "Claims and sources"),
            cards.footnotes(report, pages),
            class_="notes",
        ),
    )
    css = tokens_css(":root") + "\n".join(path.read_text("utf-8") for path in _STYLES)
    return document(exported.heading or "Report", css, body)


def _about(exported: Exported, badges: Badges) -> Node:
    """The question, the note, the counts, and how they were made."""
    report = exported.report
    counts = Counter(badges.values())
    chips = (
        el(
            "span",
            f"{look(k).icon} {counts[k]} {look(k).noun}",
            class_=f"chip {style_class(k)}",
            title=look(k).help,
        )
        for k in BADGES
        if counts[k]
    )
    made = f"Checked on {date(report.created_at)}" if report.created_at else "Checked"
    facts = f"{made} with {report.versions.get('verifier', 'an unknown verifier')}. {cards.totals(report)}"
    agreed = agreement([report]).words
    asked = f"Question: {report.question}" if exported.title and report.question else ""
    return el(
        "section",
        *(
            el("p", line, class_="lead", dir="auto")
            for line in (asked, *exported.note.split("\n"))
            if line.strip()
        ),
        el("p", facts, class_="reason"),
        el("p", agreed, class_="reason") if agreed else None,
        el("p", *chips, class_="counts"),
    )


def _answer(report: Report, badges: Badges) -> Node:
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    tree = answer.mark(answer.parse(report.answer), report.claims)
    placed = answer.marked(tree)
    last = _last_parts(tree)
    drawn = [_drawn(node, numbers, badges, last, inner=False) for node in tree]
    loose = [claim for claim in report.claims if claim.id not in placed]
    rest = [el("p", el("strong", "Claims without a place in the text"))] if loose else []
    for claim in loose:
        badge = style_class(badges[claim.id])
        words = el("span", claim.text, class_=f"claim {badge}", dir="auto")
        rest.append(el("p", words, _number(claim.id, numbers, badges)))
    label = "The answer, with its claims marked"
    return el("section", *_flat(drawn), *rest, class_="answer", role="region", aria_label=label)


def _number(claim_id: str, numbers: Mapping[str, int], badges: Badges) -> Node:
    """The number of a claim, which leads to its evidence."""
    number, style = numbers[claim_id], look(badges[claim_id])
    spoken = f"Claim {number}, {style.word.lower()}: to its evidence"
    link = el("a", f"\u2060{style.icon}{number}", href=f"#claim-{number}", aria_label=spoken)
    return el("sup", link, class_=f"number {style_class(badges[claim_id])}", id=f"mark-{number}")


def _last_parts(tree: Sequence[Tree]) -> dict[str, int]:
    """For each claim the identity of the last node that is marked as it."""
    found: dict[str, int] = {}
    for node in tree:
        if isinstance(node, Node):
            if claim_id := dict(node.attributes).get("data-claim"):
                found[claim_id] = id(node)
            found |= _last_parts(node.children)
    return found


def _drawn(
    node: Tree, numbers: Mapping[str, int], badges: Badges, last: Mapping[str, int], inner: bool
) -> list[Tree]:
    """The node as it stands in the file; a claim's number follows its last part."""
    if isinstance(node, Text):
        return [node]
    claim_id = dict(node.attributes).get("data-claim", "")
    inside = [
        _drawn(child, numbers, badges, last, inner or bool(claim_id)) for child in node.children
    ]
    if not claim_id:
        return [node.with_children(_flat(inside))]
    style = f"claim {style_class(badges[claim_id])}{' inner' * inner}"
    part = el("span", *_flat(inside), class_=style)
    return [part, _number(claim_id, numbers, badges)] if last[claim_id] == id(node) else [part]


def _flat(nodes: Sequence[Sequence[Tree]]) -> list[Tree]:
    return [node for some in nodes for node in some]


def _panels(exported: Exported, pages: Mapping[str, Page]) -> Node:
    """The evidence of every claim, what is to be read first; many with nothing related are folded
    into one line.
    """
    report = exported.report
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    spoken = quotations(report)
    entries: list[tuple[str, Node]] = []
    for number, claim in enumerate(report.claims, 1):
        evidence = [e for e in report.evidence if e.claim_id == claim.id]
        panel = cards.panel(
            claim, number, verdicts.get(claim.id), evidence, report, pages, spoken=spoken
        )
        back = (
            el("a", "↑ In the answer", href=f"#mark-{number}", class_="open")
            if claim.spans
            else None
        )
        by_hand = (
            el("p", "Corrected by hand.", class_="reason")
            if claim.id in exported.corrected
            else None
        )
        drawn = el("article", _still(panel), by_hand, back, class_="entry", id=f"claim-{number}")
        entries.append((badge_of(verdicts.get(claim.id), report), drawn))
    first = sorted(
        (e for e in entries if e[0] != "no_relation"), key=lambda entry: BADGES.index(entry[0])
    )
    rest = [node for name, node in entries if name == "no_relation"]
    if len(rest) > FOLDED:
        rest = [
            el(
                "details",
                el("summary", f"{len(rest)} {look('no_relation').noun}"),
                *rest,
                class_="entry",
            )
        ]
    return el(
        "section",
        *(node for _, node in first),
        *rest,
        class_="panels",
        role="region",
        aria_label="The evidence of each claim",
    )


def _still(node: Node) -> Node:
    """Without the buttons, which need the page behind them, and without what is empty then."""
    children: list[Tree] = []
    for child in node.children:
        if isinstance(child, Node):
            if child.tag == "button" or (
                child.tag == "span" and ("class", "facts") in child.attributes
            ):
                continue  # the second says that there is no text to open
            child = _still(child)
            if child.tag in ("p", "div") and not any(text.text.strip() for text in texts(child)):
                continue
        children.append(child)
    return node._replace(children=tuple(children))
