"""The evidence of a claim as nodes: cards, the deciding sentence marked, and the way from badge to source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attribution.evidence.near_duplicates import EvidenceGroup, group_evidence
from attribution.types import Claim, Evidence, Page, Report, Verdict
from pages.ui.html import diff, markdown
from pages.ui.html.render import RELATIONS, Child, Node, badge, el, link_to_sentence, look, plural, safe_url
from pages.ui.run.passages import around, boxed, differing
from pages.ui.run.provenance import copies, facts, moment, on_page, why


def card(
    group: EvidenceGroup, claim: Claim, verdict: Verdict | None, report: Report, pages: Mapping[str, Page]
) -> Node:
    """One piece of evidence with its link, its reason and the pieces that say the same."""
    piece = group.pieces[0]
    label, word = RELATIONS[piece.relation]
    page = pages.get(piece.page_id)
    before, sentence, after = around(piece, pages)
    marks = differing(sentence, claim.statement) if piece.relation == "contradicted" else []
    title = (page.title or page.url) if page else "A page that is no longer here"
    return el(
        "article",
        el(
            "div",
            badge(label, getattr(piece.probabilities, piece.relation), word),
            el("span", title, class_="title", dir="auto"),
            class_="head",
        ),
        el("p", " · ".join(facts(piece, page)), copies(page, pages, group.origins), class_="facts"),
        el(
            "blockquote",
            el("span", before, class_="around"),
            el("strong", *boxed(sentence, marks), class_="deciding"),
            el("span", after, class_="around"),
            dir="auto",
        ),
        el("div", _open(piece, page, sentence), _reference(page), class_="links"),
        why(piece, verdict, report, page),
        _same(group, pages),
        class_=f"card v-{label}",
    )


def _open(piece: Evidence, page: Page | None, sentence: str) -> Node | None:
    if page is None:
        return None
    number = page.page_number(piece.sentence[0])
    if page.kind == "web" and number and (address := safe_url(page.url)):  # browsers find no sentence in a PDF
        link = f"{address.partition('#')[0]}#page={number}"
        return el("a", f"Open at page {number} ↗", href=link, target="_blank", rel="noopener noreferrer", class_="open")
    if page.kind == "web" and (link := link_to_sentence(page.url, sentence)):
        return el("a", "Open at this sentence ↗", href=link, target="_blank", rel="noopener noreferrer", class_="open")
    if not page.text:
        return el("span", "The text of this source is not kept here.", class_="facts")
    at = f"{piece.start},{piece.end},{piece.sentence[0]},{piece.sentence[1]}"
    return el("button", "Open at this sentence", type="button", data_page=page.id, data_at=at, class_="open")


def _reference(page: Page | None) -> Node | None:
    if page is None or not page.reference or not safe_url(page.reference):
        return None
    return el("a", "Read on ↗", href=page.reference, target="_blank", rel="noopener noreferrer", class_="more")


def _same(group: EvidenceGroup, pages: Mapping[str, Page]) -> Node | None:
    others = group.pieces[1:]
    if not others:
        return None
    items = []
    for piece in others:
        page = pages.get(piece.page_id)
        sentence = piece.deciding_sentence
        items.append(
            el(
                "li",
                el("span", f"{page.title if page else piece.page_id}: "),
                el("span", f"“{sentence}” "),
                _open(piece, page, sentence),
            )
        )
    says = "says" if len(others) == 1 else "say"
    return el("details", el("summary", f"{len(others)} more that {says} the same"), el("ul", *items), class_="same")


def _folded(unrelated: Sequence[Node]) -> Node | None:
    """Neutral passages, folded."""
    if not unrelated:
        return None
    return el(
        "details",
        el("summary", f"{plural(len(unrelated), 'neutral passage')}"),
        *unrelated,
        class_="rest",
    )


def panel(
    claim: Claim,
    number: int,
    verdict: Verdict | None,
    evidence: Sequence[Evidence],
    report: Report,
    pages: Mapping[str, Page],
) -> Node:
    """Everything about one claim."""
    groups = group_evidence(evidence, pages)
    deciding = sum(g.pieces[0].relation != "no_relation" for g in groups)
    shown, rest = groups[: max(deciding, 1)], groups[max(deciding, 1) :]
    against = next((g.pieces[0] for g in groups if g.pieces[0].relation == "contradicted"), None)
    text = markdown.plain(claim.text)
    marks = differing(text, against.deciding_sentence) if against else []
    confidence = verdict.confidence if verdict and verdict.confidence else None
    return el(
        "div",
        el("div", el("h3", f"Claim {number}"), badge(verdict.label if verdict else None, confidence), class_="head"),
        el("p", *boxed(text, marks), class_=f"claim-text v-{verdict.label if verdict else 'pending'}", dir="auto"),
        _enriched(claim),
        el("p", verdict.reason if verdict else "Its sources are still being read.", class_="reason"),
        *_concerns(claim, verdict, report),
        _alone(verdict),
        *(card(group, claim, verdict, report, pages) for group in shown),
        _folded([card(group, claim, verdict, report, pages) for group in rest]),
        class_="panel-body",
    )


def _concerns(claim: Claim, verdict: Verdict | None, report: Report) -> list[Node]:
    """What did not work for this claim alone, where its verdict does not say so already."""
    said = verdict.reason if verdict else ""
    messages = (f.message for f in report.failures if f.subject in (claim.text, claim.id))
    return [
        el("p", m[:1].upper() + m[1:].rstrip(".") + ".", class_="reason")
        for m in dict.fromkeys(messages)
        if m not in said
    ]


def _enriched(claim: Claim) -> Node | None:
    """What was added so that the claim can stand alone, and the way back."""
    if not claim.enriched:
        return None
    back = el("button", "Check it as written", type="button", data_revert=claim.id, class_="open")
    return el(
        "p", "Checked as: ", *diff.shown(markdown.plain(claim.text), claim.enriched), " ", back, class_="enriched"
    )


def _alone(verdict: Verdict | None) -> Node | None:
    """A verdict that rests on words the answer did not say there."""
    if verdict is None or not verdict.rests_on_added:
        return None
    return el(
        "p", "It rests on the added words. Without them: ", badge(verdict.without_added), class_="reason rests-on-added"
    )


def footnotes(report: Report, pages: Mapping[str, Page]) -> Node:
    """What stands in the panels, for print: a numbered note for each claim."""
    verdicts = {v.claim_id: v for v in report.verdicts}
    notes = []
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        style = look(verdict.label if verdict else None)
        groups = group_evidence([e for e in report.evidence if e.claim_id == claim.id], pages)
        best = groups[0].pieces[0] if groups and groups[0].pieces[0].relation != "no_relation" else None
        source: list[Child] = []
        if best:
            page = pages.get(best.page_id)
            source = [
                f" “{best.deciding_sentence}” ",
                el("em", page.title if page else ""),
                f", {page.url if page else ''}{on_page(best, page)}, read {moment(page.fetched_at) if page else ''}.",
            ]
        notes.append(
            el(
                "li",
                el("strong", f"{style.icon} {style.word}. "),
                verdict.reason if verdict else "",
                *source,
                value=number,
            )
        )
    return el("ol", *notes, class_="footnotes")


def totals(report: Report) -> str:
    """One sentence that says what a run found."""
    labels = [v.label for v in report.verdicts]
    checked = [label for label in labels if label != "not_checked"]
    if not checked:
        return (
            f"None of the {plural(len(report.claims), 'sentence')} states something that sources could confirm or deny."
        )
    kinds = [
        f"{labels.count(label)} {look(label).noun}"
        for label in dict.fromkeys(sorted(checked, key=lambda x: -checked.count(x)))
    ]
    were = "was" if len(checked) == 1 else "were"
    return f"Of {plural(len(report.claims), 'claim')}, {len(checked)} {were} checked: {', '.join(kinds)}."
