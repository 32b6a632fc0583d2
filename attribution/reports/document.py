"""A run as a web page in one file: the highlighted answer, and the evidence of every claim.

It is drawn with the nodes of the page and needs no script: numbers in the answer lead to the
evidence and back.
"""

from __future__ import annotations

from attribution.reports import Exported, answer, cards
from attribution.reports.claim_rows import ClaimRow, claim_rows
from attribution.reports.html import STATIC, Node, Text, Tree, document, el
from attribution.reports.looks import look
from attribution.reports.trail import date
from attribution.review.citations import citation_lines
from attribution.review.quotations import quotations
from attribution.types import BADGES

DECIDES = "The analyst's assessment decides; the model's verdict stands beside it."
STYLES = ("verdicts.css", "answer.css", "document.css")


def write(exported: Exported) -> str:
    """Return the HTML of the file."""
    drawing = _Drawing(exported)
    sheet = el("div", drawing.answer(), drawing.panels(), class_="sheet")
    body = el("div", drawing.about(), sheet)
    styles = [(STATIC / name).read_text("utf-8") for name in STYLES]
    return document(exported.heading or "Report", "\n".join(styles), body)


class _Drawing:
    def __init__(self, exported: Exported) -> None:
        self._exported = exported
        self._report = exported.report
        self._rows = {row.claim.id: row for row in claim_rows(exported.report)}
        self._placed: set[str] = set()  # ids of the claims that have their number

    def about(self) -> Node:
        """Draw the question, the note, the counts, and how they were made."""
        report = self._report
        lines = self._exported.note.split("\n")
        if self._exported.title and report.question:
            lines.insert(0, f"Question: {report.question}")
        nodes = [el("p", line, class_="lead", dir="auto") for line in lines if line.strip()]
        verifier = report.versions.get("verifier", "an unknown verifier")
        made = f"Checked on {date(report.created_at)} with {verifier}"
        words = f"{made}: {cards.headline(report)}."
        nodes.append(el("p", words, class_="reason"))
        if any(row.own for row in self._rows.values()):
            nodes.append(el("p", DECIDES, class_="reason"))
        return el("section", *nodes)

    def answer(self) -> Node:
        """Draw the answer, with a number behind each claim."""
        parsed = answer.parse(self._report.answer)
        nodes: list[Tree] = []
        for node in answer.mark(parsed, self._report.claims):
            nodes += self._numbered(node)
        loose = [claim for claim in self._report.claims if claim.id not in self._placed]
        if loose:
            title = el("strong", "Claims without a place in the text")
            nodes.append(el("p", title))
        for claim in loose:
            words = el("span", claim.text, class_=self._class(claim.id), dir="auto")
            nodes.append(el("p", words, self._number(claim.id)))
        return el(
            "section",
            *nodes,
            class_="answer",
            role="region",
            aria_label="The answer, with its claims marked",
        )

    def _class(self, claim_id: str) -> str:
        return f"claim g-{self._rows[claim_id].group}"

    def _number(self, claim_id: str) -> Node:
        """Draw the number of a claim, which leads to its evidence."""
        row = self._rows[claim_id]
        style = look(row.badge)
        spoken = f"Claim {row.number}, {style.word.lower()}: to its evidence"
        words = f"\u2060{style.icon}{row.number}"
        link = el("a", words, href=f"#claim-{row.number}", aria_label=spoken)
        return el(
            "sup",
            link,
            class_=f"number g-{row.group}",
            id=f"mark-{row.number}",
        )

    def _numbered(self, node: Tree, is_inner: bool = False) -> list[Tree]:
        """Draw a node of the answer; a claim's number follows its first part."""
        if isinstance(node, Text):
            return [node]
        claim_id = dict(node.attributes).get("data-claim", "")
        inside: list[Tree] = []
        for child in node.children:
            inside += self._numbered(child, is_inner or bool(claim_id))
        if not claim_id:
            return [node.with_children(inside)]
        classes = self._class(claim_id)
        if is_inner:
            classes += " inner"
        parts: list[Tree] = [el("span", *inside, class_=classes)]
        if claim_id not in self._placed:
            self._placed.add(claim_id)
            parts.append(self._number(claim_id))
        return parts

    def panels(self) -> Node:
        """Draw the card of every claim, problems first."""
        settings = cards.CardSettings(
            quotations=quotations(self._report),
            citations=citation_lines(self._report),
        )
        rows = sorted(self._rows.values(), key=lambda row: BADGES.index(row.badge))
        entries = [self._entry(row, settings) for row in rows]
        return el(
            "section",
            *entries,
            class_="panels",
            role="region",
            aria_label="The evidence of each claim",
        )

    def _entry(self, row: ClaimRow, settings: cards.CardSettings) -> Node:
        """Draw the card of a claim, and the way back to its place in the answer."""
        panel = cards.panel(row, self._report, settings)
        parts: list[Node] = [_still(panel)]
        if row.claim.spans:
            mark = f"#mark-{row.number}"
            parts.append(el("a", "↑ In the answer", href=mark, class_="open"))
        return el("article", *parts, class_="entry", id=f"claim-{row.number}")


def _still(node: Node) -> Node:
    """Drop the buttons, which need the page behind them."""
    children: list[Tree] = []
    for child in node.children:
        if isinstance(child, Text):
            children.append(child)
        elif child.tag != "button":
            children.append(_still(child))
    return node.with_children(children)
