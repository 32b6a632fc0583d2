"""Draw the evidence cards of a claim as nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attribution.claims.enrichment import removed_words
from attribution.evidence.near_duplicates import EvidenceGroup, group_evidence, nearest_evidence
from attribution.policy import DecisionPolicy
from attribution.provenance import Provenance
from attribution.reports import answer
from attribution.reports.actions import (
    button,
    claim_actions,
    exclude,
    excluded,
    judge_buttons,
    step_buttons,
)
from attribution.reports.html import (
    RELATIONS,
    Child,
    Node,
    as_sentence,
    badge,
    counted,
    el,
    link_to_sentence,
    look,
    plural,
    safe_url,
    style_class,
    table,
)
from attribution.reports.trail import chain, copies, date, facts, why
from attribution.review.quotations import Outcome, Quotation
from attribution.searchers import source_label
from attribution.source import of_settings
from attribution.text.differences import contrasts, differing_spans
from attribution.text.urls import site
from attribution.text.words import shared_runs, uncovered
from attribution.types import Claim, Evidence, Page, Report, Verdict, quoted
from attribution.verdicts import SIDES, leaning, uncounted
from attribution.verifiers import VERIFIERS
from attribution.verifiers.calibration import badge_of, badge_share, badges, verifier_name

_PARAGRAPH = re.compile(r"\n[^\S\n]*+\n\s*+|\n#++ ")
TIP = 320  # characters of a sentence in a tooltip
CONTEXT = 170  # characters shown on either side of the deciding sentence


@dataclass(frozen=True)
class Quote:
    """A deciding sentence in its context; the verifier did not read the outer parts."""

    unread_before: str
    before: str
    sentence: str
    after: str
    unread_after: str


def quote(piece: Evidence, pages: Mapping[str, Page]) -> Quote:
    """Return the deciding sentence with the text around it, within its paragraph."""
    page = pages.get(piece.page_id)
    text, shift = piece.text, piece.start
    if page and page.text[piece.start : piece.end] == piece.text:
        text, shift = page.text, 0
    read = (piece.start - shift, piece.end - shift)
    first, last = piece.sentence[0] - shift, piece.sentence[1] - shift
    if not 0 <= first < last <= len(text):
        first, last = read
    start = first - len(_PARAGRAPH.split(text[max(0, first - CONTEXT) : first])[-1].lstrip())
    end = last + len(_PARAGRAPH.split(text[last : last + CONTEXT])[0].rstrip())
    dots_before = dots_after = ""
    if start > 0 and first - start >= CONTEXT - 1:
        start, dots_before = text.find(" ", start, first) + 1 or first, "… "
    if end < len(text) and end - last >= CONTEXT - 1:
        end, dots_after = max(text.rfind(" ", last, end), last), " …"
    read_from, read_to = min(max(read[0], start), first), max(min(read[1], end), last)
    return Quote(
        dots_before + text[start:read_from],
        text[read_from:first],
        text[first:last],
        text[last:read_to],
        text[read_to:end] + dots_after,
    )


def box(text: str, spans: Sequence[tuple[int, int]], class_: str = "differs") -> list[Child]:
    """Draw the text with these spans in boxes, or underlined as words that both texts have."""
    nodes: list[Child] = []
    position = 0
    for start, end in spans:
        nodes += [text[position:start], el("span", text[start:end], class_=class_)]
        position = end
    return [*nodes, text[position:]]


def versus(claim: str, sentence: str) -> Node | None:
    """Draw the numbers, dates, units, names and negations that differ, the claim's beside the
    source's.
    """
    rows = [(c.kind, c.claim or "–", c.source or "–") for c in contrasts(claim, sentence)]
    return (
        table(("What", "The claim says", "The source says"), rows, "figures versus")
        if rows
        else None
    )


Pages = Mapping[str, Page]


def card(
    evidence: EvidenceGroup,
    claim: Claim,
    verdict: Verdict | None,
    report: Report,
    pages: Pages,
    alone: Sequence[Evidence] = (),
    editable: bool = False,
) -> Node:
    """Draw one piece of evidence with its link, its reason and the pieces that say the same.

    `alone` are the passages whose contradiction does not count (see `verdicts.uncounted`).
    """
    piece = evidence.best
    label = "unclear" if leans(piece, alone) else RELATIONS[piece.relation][0]
    page = pages.get(piece.page_id)
    text = quote(piece, pages)
    part = el("span", f"for its part {quoted(piece.part)}") if piece.part else None
    note = el("span", said) if (said := _note(piece)) else None
    said_of = piece.part or claim.statement
    if against := piece.relation == "contradicted":
        words = box(text.sentence, differing_spans(said_of, text.sentence)[1])
    else:
        words = box(
            text.sentence, shared_runs(text.sentence, piece.part or claim.text), "same-words"
        )
    title = (page.title or page.url) if page else "A page that is no longer in the database"
    return el(
        "article",
        el("div", relation_badge(piece, alone), part, note, class_="head"),
        el(
            "blockquote",
            _unread(text.unread_before),
            text.before,
            el("strong", *words, class_="deciding"),
            text.after,
            _unread(text.unread_after),
            dir="auto",
        ),
        el(
            "p",
            el("strong", title, class_="title", dir="auto"),
            f" · {facts(page, piece.sentence[0])}" if page else None,
            copies(page, pages, evidence.origins),
            class_="facts",
        ),
        versus(said_of, text.sentence) if against or leans(piece) else None,
        el(
            "div",
            _open(piece, page, text.sentence),
            _beside(piece, page),
            _reference(page),
            exclude(piece) if editable else None,
            class_="links",
        ),
        why(piece, verdict, report, page, piece in alone),
        _same(evidence, pages),
        class_=f"card v-{label}",
    )


def _note(piece: Evidence) -> str:
    """Say why the passage does not count for the relation that it leans to."""
    against = piece.reservation
    return (
        f"Does not count: {against.note}."
        if against and leaning(piece.probabilities) in against.relations
        else ""
    )


def leans(piece: Evidence, alone: Sequence[Evidence] = ()) -> bool:
    """Return True if one side is more probable than no relation, though it does not count."""
    return piece in alone or (
        piece.relation == "no_relation" and leaning(piece.probabilities) != "no_relation"
    )


def relation_badge(piece: Evidence, alone: Sequence[Evidence] = ()) -> Node:
    """Draw the relation of a passage to a claim; its probability is among the reasons."""
    if leans(piece, alone):
        return badge("unclear", word=f"Leans to {SIDES[leaning(piece.probabilities)]}")
    if piece.relation == "no_relation" and piece.about:
        return badge("unclear", word="Related, undecided")
    label, word = RELATIONS[piece.relation]
    return badge(label, word=f"{word}, word for word" if piece.word_for_word else word)


def _unread(text: str) -> Node | None:
    """Draw the text around a passage, which the verifier did not read."""
    return (
        el("span", text, class_="unread", title="Context that the verifier did not read")
        if text
        else None
    )


def _link(text: str, address: str, class_: str) -> Node:
    return el(
        "a", f"{text} ↗", href=address, target="_blank", rel="noopener noreferrer", class_=class_
    )


def _button(text: str, **target: str) -> Node:
    return el("button", text, type="button", class_="open", **target)


def _open(piece: Evidence, page: Page | None, sentence: str) -> Node | None:
    """Link to the sentence: on the web, or in the stored text."""
    if page is None:
        return None
    number = page.page_number(piece.sentence[0])
    if (
        page.kind == "web" and number and (address := safe_url(page.url))
    ):  # browsers find no sentence in a PDF
        return _link(f"Open at page {number}", f"{address.partition('#')[0]}#page={number}", "open")
    if page.kind == "web" and (address := link_to_sentence(page.url, sentence)):
        return _link("Open at this sentence", address, "open")
    if not page.text:
        return el(
            "span",
            "The text of this source was not shared, or is no longer in the database.",
            class_="facts",
        )
    return _button("Open at this sentence", data_page=page.id, data_at=_at(piece))


def _at(piece: Evidence) -> str:
    return f"{piece.start},{piece.end},{piece.sentence[0]},{piece.sentence[1]}"


def _beside(piece: Evidence, page: Page | None) -> Node | None:
    """Offer the stored text of a web page, with every claim that it speaks of."""
    if page is None or page.kind != "web" or not page.text:
        return None
    return _button("Read it here", data_page=page.id, data_at=_at(piece))


def _reference(page: Page | None) -> Node | None:
    """Link to the original of a local text, or to the source of an article in the built-in library."""
    if page is None or not (address := safe_url(page.reference or page.facts_from)):
        return None
    return _link(f"Facts from {site(address)}" if page.facts_from else "Read more", address, "more")


def _same(evidence: EvidenceGroup, pages: Pages) -> Node | None:
    """Draw the other pieces of a group, folded."""
    others = evidence.pieces[1:]
    if not others:
        return None
    items = []
    for piece in others:
        page, sentence = pages.get(piece.page_id), piece.deciding_sentence
        title = el("span", f"{page.title if page else piece.page_id}: ")
        items.append(el("li", title, el("span", f"“{sentence}” "), _open(piece, page, sentence)))
    says = "says" if len(others) == 1 else "say"
    return el(
        "details",
        el("summary", f"{len(others)} more that {says} the same"),
        el("ul", *items),
        class_="same",
    )


def panel(
    claim: Claim,
    number: int,
    verdict: Verdict | None,
    evidence: Sequence[Evidence],
    report: Report,
    pages: Pages,
    running: bool = False,
    provenance: Provenance | None = None,
    editable: bool = False,
    spoken: Sequence[Quotation] = (),
) -> Node:
    """Draw everything about one claim; the provenance lists pages and failures that left no
    evidence.

    `editable` adds the controls that change the run; `spoken` are the quotations of the answer.
    """
    label = verdict.label if verdict else "pending" if running else "not_reached"
    shown = badge_of(verdict, report, label)
    alone = uncounted(evidence, DecisionPolicy.of(report.settings))
    groups, decisive = _ordered(group_evidence(evidence, pages), alone)
    cards = [card(g, claim, verdict, report, pages, alone, editable) for g in groups]
    against = next((g.best for g in groups if g.best.relation == "contradicted"), None)
    spans, _ = differing_spans(claim.text, against.deciding_sentence) if against else ([], [])
    like_this = badge_share(verdict, report)
    waiting = "Its sources are still being read." if running else look(label).help
    return el(
        "div",
        el("div", el("h3", f"Claim {number}"), badge(shown), class_="head"),
        el(
            "p",
            *(_enriched(claim, editable) or box(claim.text, spans)),
            class_=f"claim-text {style_class(shown)}",
            dir="auto",
        ),
        el(
            "p",
            " ".join(
                filter(
                    None,
                    (verdict.reason if verdict else waiting, like_this and as_sentence(like_this)),
                )
            ),
            class_="reason",
        ),
        *_failures(claim, verdict, report),
        _as_written(claim, verdict),
        _second_reading(verdict, report),
        *_quotations(claim, spoken, report),
        judge_buttons(claim, verdict, report) if editable else analyst(report, claim),
        *cards[:decisive],
        _uncovered(claim, groups[0].best, pages)
        if groups and label in ("unclear", "no_relation")
        else None,
        _searched(report) if label == "missing" else None,
        _rest(cards[decisive:]),
        step_buttons(claim, verdict, report) if editable else None,
        claim_actions(claim, number) if editable else None,
        None if running else chain(claim, verdict, evidence, report, pages, provenance),
        None if running else excluded(claim, report, pages, editable),
        class_="panel-body",
    )


def _ordered(
    groups: Sequence[EvidenceGroup], alone: Sequence[Evidence]
) -> tuple[list[EvidenceGroup], int]:
    """Order what counts first, then what leans to a side, then what is about the same thing; and
    how many to show.
    """

    def rank(group: EvidenceGroup) -> tuple[bool, ...]:
        best = group.best
        counts = best.relation != "no_relation" and best not in alone
        return not counts, best.relation == "no_relation", not leans(best, alone), not best.about

    shown = sum(not rank(g)[0] for g in groups) or sum(leans(g.best, alone) for g in groups) or 1
    return sorted(groups, key=rank), shown


def _rest(cards: Sequence[Node]) -> Node | None:
    if not cards:
        return None
    settle = "doesn't settle" if len(cards) == 1 else "don't settle"
    return el(
        "details",
        el("summary", f"{plural(len(cards), 'more passage')} that {settle} it"),
        *cards,
        class_="rest",
    )


MAX_UNCOVERED = 6  # words of a claim


def _uncovered(claim: Claim, nearest: Evidence, pages: Pages) -> Node | None:
    """Draw the words of a claim that its nearest passage, as it is shown, does not have, where they
    are few.
    """
    page, text = pages.get(nearest.page_id), quote(nearest, pages)
    around = (text.unread_before, text.before, text.sentence, text.after, text.unread_after)
    missing = uncovered(
        claim.statement, f"{page.title if page else ''}\n{''.join(around)}\n{nearest.text}"
    )
    if _note(nearest) or not 0 < len(missing) <= MAX_UNCOVERED:
        return None
    words = [part for word in missing for part in (", ", el("em", word, dir="auto"))][1:]
    return el("p", "Not in the nearest passage: ", *words, ".", class_="reason")


def _searched(report: Report) -> Node:
    """Draw where nothing was found."""
    sources = report.settings.get("sources", ())
    names = ", ".join(
        source_label(str(source))
        for source in (sources if isinstance(sources, list | tuple) else ())
    )
    return el(
        "p",
        f"Looked in {names or 'no source'}. The run read {plural(len(report.pages), 'page')}.",
        class_="reason",
    )


def analyst(report: Report, claim: Claim) -> Node | None:
    """Draw the analyst's verdict with its note, and the badge that it was given on if that has
    changed since.
    """
    own = next((j for j in report.judgements if j.claim_id == claim.id), None)
    if own is None:
        return None
    now = next((v.label for v in report.verdicts if v.claim_id == claim.id), None)
    seen = (
        f" The model's was “{look(own.badge).word}” then." if own.badge and own.badge != now else ""
    )
    note = el("span", f" {own.note}", dir="auto") if own.note else None
    return el("p", "The analyst's verdict: ", badge(own.label), note, seen, class_="reason analyst")


def _failures(claim: Claim, verdict: Verdict | None, report: Report) -> list[Node]:
    """Draw the failures of this claim alone, unless its verdict states them already."""
    reason = verdict.reason if verdict else ""
    messages = dict.fromkeys(
        f.message for f in report.failures if f.subject in (claim.text, claim.id)
    )
    return [el("p", as_sentence(m), class_="reason") for m in messages if m not in reason]


def _enriched(claim: Claim, editable: bool) -> list[Child]:
    """Draw the claim with the changes that decontextualised it, and a button to undo them; empty
    without any.
    """
    if not claim.enriched:
        return []
    back = button("Check it as written", f"as_written:{claim.id}") if editable else None
    return [el("span", *answer.shown(claim.text, claim.enriched), class_="enriched"), " ", back]


def _as_written(claim: Claim, verdict: Verdict | None) -> Node | None:
    """Draw a note for a verdict that depends on words that are not in the answer."""
    if verdict is None or not verdict.rests_on_added:
        return None
    on = (
        "the rewording. As written: " if removed_words(claim) else "the added words. Without them: "
    )
    return el(
        "p",
        f"This verdict depends on {on}",
        badge(verdict.without_added),
        class_="reason rests-on-added",
    )


def _second_reading(verdict: Verdict | None, report: Report) -> Node | None:
    """Name the two verifiers of a claim that was read twice, and the badge of the one that did not
    decide.
    """
    if verdict is None or verdict.other is None:
        return None
    second = report.versions.get(f"verifier:{verdict.claim_id}") or report.versions.get(
        "second_verifier", ""
    )
    first, second = (
        VERIFIERS[name].label if (name := verifier_name(v)) in VERIFIERS else name
        for v in (report.versions.get("verifier", ""), second)
    )
    decided = verdict.other.reader == "first"
    said = (
        f"Rechecked by {second}. The first verdict, by {first}, was: "
        if decided
        else f"Rechecked by {second}: "
    )
    return el("p", said, badge(verdict.other.label), class_="reason second-reading")


QUOTED_AS: dict[Outcome, tuple[str, str]] = {
    "verbatim": ("supported", "word for word"),
    "altered": ("contradicted", "altered"),
    "not_found": ("missing", "not found"),
}


def _quotations(claim: Claim, spoken: Sequence[Quotation], report: Report) -> Iterator[Node]:
    """Draw what became of the quotations in a claim, with the words that differ from the source's."""
    for one in spoken:
        if not any(start < one.span[1] and one.span[0] < end for start, end in claim.spans):
            continue
        label, word = QUOTED_AS[one.outcome]
        where: list[Child] = [f" in none of {plural(len(report.pages), 'page')}: “{one.text}”"]
        if one.page:
            title = el("em", one.page.title or one.page.url, dir="auto")
            said = answer.shown(one.source, one.text) if one.outcome == "altered" else [one.text]
            open_ = _button(
                "Open at this quotation",
                data_page=one.page.id,
                data_at=",".join(map(str, one.at * 2)),
            )
            where = [" in ", title, ": “", *said, "” ", open_]
        yield el(
            "p",
            "Quotation ",
            badge(label, word=word),
            *where,
            class_="reason quotation",
            dir="auto",
        )


def quoted_words(spoken: Sequence[Quotation]) -> str:
    """Count the quotations by what became of them: "3 quotations: 1 altered, 2 word for word"."""
    counts = Counter(one.outcome for one in spoken)
    parts = (
        f"{counts[name]} {word}" for name, (_, word) in reversed(QUOTED_AS.items()) if counts[name]
    )
    return f"{plural(len(spoken), 'quotation')}: {', '.join(parts)}" if spoken else ""


def tip(claim: Claim, verdict: Verdict | None, report: Report, pages: Pages) -> str:
    """Return the sentence that decides on a claim, with its source, for a pointer that rests on the
    claim.
    """
    found = [e for e in report.evidence if e.claim_id == claim.id]
    best = nearest_evidence(found, verdict.label if verdict else "", pages)
    page = pages.get(best.page_id) if best else None
    return (
        f"{quoted(best.deciding_sentence, TIP)} {page.title or page.url if page else ''}".strip()
        if best
        else ""
    )


def footnotes(report: Report, pages: Pages) -> Node:
    """Draw the panels for print: a numbered note for each claim."""
    verdicts = {v.claim_id: v for v in report.verdicts}
    notes = []
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        style = look(badge_of(verdict, report))
        found = [e for e in report.evidence if e.claim_id == claim.id]
        best = nearest_evidence(found, verdict.label if verdict else "", pages)
        source: list[Child] = []
        if best:
            page = pages.get(best.page_id)
            address = f", {_place(page, best.sentence[0])}" if page else ""
            source = [
                f" “{best.deciding_sentence}” ",
                el("em", page.cited if page else ""),
                f"{address}.",
            ]
        reason = verdict.reason if verdict else ""
        mark = el("strong", f"{style.icon} {style.word}. ")
        notes.append(el("li", mark, reason, *source, analyst(report, claim), value=number))
    return el("ol", *notes, class_="footnotes")


def _place(page: Page, offset: int) -> str:
    if page.facts_from:
        return f"facts from {page.facts_from}"
    number = page.page_number(offset)
    return f"{page.url}{f', page {number}' if number else ''}, read {date(page.fetched_at)}"


def headline(report: Report) -> str:
    """Summarise the badges of a run, the worst first: "1 contradicted, 7 unclear, 6 likely
    supported".

    Engines that could not be used stand behind them, or are the reason why nothing was searched.
    """
    found, sources = Counter(badges(report)), of_settings(report.settings.get("sources", ()))
    del found["not_checked"]
    down = {f.subject for f in report.failures if f.kind == "source_unread"}
    failed = f"{' and '.join(map(source_label, sorted(down)))} could not be used" if down else ""
    if failed and {source.name for source in sources} <= down:
        missing = found.pop("missing", 0)
        return (
            ", ".join(
                [*([f"{missing} not searched: {failed}"] if missing else []), *counted(found)]
            )
            or failed
        )
    return "; ".join(filter(None, (", ".join(counted(found)) or "No claim to check", failed)))


def totals(report: Report) -> str:
    """Summarise the verdicts of a run in one sentence."""
    labels = Counter(badges(report))
    unreached = labels.pop("not_reached", 0)
    del labels["not_checked"]
    claims, checked = len(report.claims), labels.total()
    if not checked and not unreached:
        sentences = plural(claims, "sentence")
        return f"None of the {sentences} states something that sources could support or contradict."
    end = f": {', '.join(counted(labels))}" if checked else ""
    rest = f" {unreached} {'was' if unreached == 1 else 'were'} not reached." if unreached else ""
    return f"{checked} of {plural(claims, 'claim')} {'was' if 1 in (checked, claims) else 'were'} checked{end}.{rest}"
