"""Draw the evidence of a claim as nodes, and say in a line what became of a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from attribution.evidence.near_duplicates import EvidenceGroup, group_evidence
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
from attribution.reports.claim_rows import ClaimRow, claim_rows
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
from attribution.types import Claim, Evidence, Page, Report, Span, Verdict, quoted
from attribution.verdicts import SIDES, leaning
from attribution.verifiers import VERIFIERS
from attribution.verifiers.calibration import badge_share, badges, verifier_name

_PARAGRAPH = re.compile(r"\n[^\S\n]*+\n\s*+|\n#++ ")
TIP = 320  # characters of a sentence in a tooltip
CONTEXT = 170  # characters shown on either side of the deciding sentence
MAX_UNCOVERED = 6  # words of a claim
Pages = Mapping[str, Page]


class Quote(NamedTuple):
    """A deciding sentence with the text around it, within its paragraph."""

    before: str
    sentence: str
    after: str


def quote(piece: Evidence, pages: Pages) -> Quote:
    """Return the deciding sentence of a passage in its context."""
    page = pages.get(piece.page_id)
    text, (first, last) = piece.text, piece.sentence
    if page and page.text[piece.start : piece.end] == piece.text:
        text = page.text
    else:
        first, last = first - piece.start, last - piece.start
    if not 0 <= first < last <= len(text):
        return Quote("", piece.text, "")
    before = _PARAGRAPH.split(text[max(0, first - CONTEXT) : first])[-1].lstrip()
    after = _PARAGRAPH.split(text[last : last + CONTEXT])[0].rstrip()
    if len(before) >= CONTEXT - 1:
        before = "… " + before.partition(" ")[2]
    if len(after) >= CONTEXT - 1:
        after = after.rpartition(" ")[0] + " …"
    return Quote(before, text[first:last], after)


def _marked(text: str, spans: Sequence[Span], class_: str) -> list[Child]:
    nodes: list[Child] = []
    position = 0
    for start, end in spans:
        nodes += [text[position:start], el("span", text[start:end], class_=class_)]
        position = end
    return [*nodes, text[position:]]


# --- one passage ---


def leans(piece: Evidence) -> bool:
    """Return True if one side is more probable than no relation, though it does not count."""
    return piece.relation == "no_relation" and leaning(piece.probabilities) != "no_relation"


def relation_badge(piece: Evidence) -> Node:
    """Draw the relation of a passage to a claim."""
    if leans(piece):
        return badge("unclear", word=f"Leans towards {SIDES[leaning(piece.probabilities)]}")
    if piece.relation == "no_relation" and piece.about:
        return badge("unclear", word="On topic, undecided")
    label, word = RELATIONS[piece.relation]
    return badge(label, word=word)


def _card(group: EvidenceGroup, claim: Claim, report: Report, pages: Pages, editable: bool) -> Node:
    """Draw one passage with its link, its reasons and the passages that say the same."""
    piece = group.best
    page = pages.get(piece.page_id)
    text = quote(piece, pages)
    is_against = piece.relation == "contradicted"
    if is_against:
        spans = differing_spans(claim.statement, text.sentence)[1]
        words = _marked(text.sentence, spans, "differs")
    else:
        words = _marked(text.sentence, shared_runs(text.sentence, claim.text), "same-words")
    label = "unclear" if leans(piece) else RELATIONS[piece.relation][0]
    return el(
        "article",
        el("div", relation_badge(piece), _note(piece), class_="head"),
        el(
            "blockquote",
            text.before,
            el("strong", *words, class_="deciding"),
            text.after,
            dir="auto",
        ),
        el(
            "p",
            el("strong", _title(page), class_="title", dir="auto"),
            f" · {facts(page, piece.sentence[0])}" if page else None,
            copies(page, pages, group.origins),
            class_="facts",
        ),
        _differences(claim.statement, text.sentence) if is_against or leans(piece) else None,
        el(
            "div",
            _open(piece, page, text.sentence),
            _stored_text(piece, page),
            _reference(page),
            exclude(piece) if editable else None,
            class_="links",
        ),
        why(piece, report, page),
        _same(group, pages),
        class_=f"card v-{label}",
    )


def _title(page: Page | None) -> str:
    if page is None:
        return "A source that is no longer in the database"
    return page.title or page.url


def _note(piece: Evidence) -> Node | None:
    """Say why the passage does not count for the relation that it leans towards."""
    reservation = piece.reservation
    if reservation and leaning(piece.probabilities) in reservation.relations:
        return el("span", f"Does not count: {reservation.note}.")
    return None


def _differences(statement: str, sentence: str) -> Node | None:
    """Draw the values and names that differ, the claim's beside the source's."""
    rows = [(c.kind, c.claim or "–", c.source or "–") for c in contrasts(statement, sentence)]
    if not rows:
        return None
    return table(("What", "The claim says", "The source says"), rows, "figures versus")


def _link(text: str, address: str, class_: str) -> Node:
    return el(
        "a", f"{text} ↗", href=address, target="_blank", rel="noopener noreferrer", class_=class_
    )


def _open(piece: Evidence, page: Page | None, sentence: str) -> Node | None:
    """Link to the sentence: on the web, or in the stored text."""
    if page is None:
        return None
    if page.kind == "web":
        number = page.page_number(piece.sentence[0])
        address = safe_url(page.url)
        if number and address:  # browsers find no sentence in a PDF
            address = f"{address.partition('#')[0]}#page={number}"
            return _link(f"Open at page {number}", address, "open")
        address = link_to_sentence(page.url, sentence)
        if address:
            return _link("Open at this sentence", address, "open")
    if page.text:
        return _text_button("Open at this sentence", page, _at(piece))
    missing = "The text of this source was not shared, or is no longer in the database."
    return el("span", missing, class_="facts")


def _at(piece: Evidence) -> str:
    return f"{piece.start},{piece.end},{piece.sentence[0]},{piece.sentence[1]}"


def _text_button(text: str, page: Page, at: str) -> Node:
    return el("button", text, type="button", class_="open", data_page=page.id, data_at=at)


def _stored_text(piece: Evidence, page: Page | None) -> Node | None:
    """Offer the stored text of a web page, with every claim that it speaks of."""
    if page is None or page.kind != "web" or not page.text:
        return None
    return _text_button("Show stored text", page, _at(piece))


def _reference(page: Page | None) -> Node | None:
    """Link to the original of a local text, or to the source of a built-in article's facts."""
    address = safe_url(page.reference or page.facts_from) if page else None
    if page is None or address is None:
        return None
    return _link(f"Facts from {site(address)}" if page.facts_from else "Read more", address, "more")


def _same(group: EvidenceGroup, pages: Pages) -> Node | None:
    """Draw the other passages of a group, folded."""
    others = group.pieces[1:]
    if not others:
        return None
    items = []
    for piece in others:
        page, sentence = pages.get(piece.page_id), piece.deciding_sentence
        words = el("span", f"“{sentence}” ")
        items.append(el("li", f"{_title(page)}: ", words, _open(piece, page, sentence)))
    says = "says" if len(others) == 1 else "say"
    summary = el("summary", f"{len(others)} more that {says} the same")
    return el("details", summary, el("ul", *items), class_="same")


# --- one claim ---


def panel(
    row: ClaimRow,
    report: Report,
    running: bool = False,
    provenance: Provenance | None = None,
    editable: bool = False,
    spoken: Sequence[Quotation] = (),
) -> Node:
    """Draw everything about one claim.

    Args:
        provenance: Lists pages and failures that left no evidence.
        editable: Adds the controls that change the run.
        spoken: The quotations of the answer.
    """
    claim, verdict, evidence = row.claim, row.verdict, row.evidence
    pages = {page.id: page for page in report.pages}
    shown = "pending" if running and verdict is None else row.badge
    label = verdict.label if verdict else shown
    groups, decisive = _ordered(group_evidence(evidence, pages))
    cards = [_card(group, claim, report, pages, editable) for group in groups]
    return el(
        "div",
        el("div", el("h3", f"Claim {row.number}"), badge(shown), class_="head"),
        _claim_text(claim, groups, shown, editable),
        el("p", _reason(verdict, shown, report), class_="reason"),
        *_failures(claim, verdict, report),
        _other_verdict(verdict, report),
        *_quotations(claim, spoken, report),
        judge_buttons(claim, verdict, report) if editable else analyst(row),
        *cards[:decisive],
        _uncovered(claim, groups, label, pages),
        _searched(report) if label == "missing" else None,
        _folded(cards[decisive:]),
        step_buttons(claim, verdict, report) if editable else None,
        claim_actions(claim, row.number) if editable else None,
        None if running else chain(row, report, provenance),
        None if running else excluded(claim, report, pages, editable),
        class_="panel-body",
    )


def _ordered(groups: Sequence[EvidenceGroup]) -> tuple[list[EvidenceGroup], int]:
    """Order what counts first, then what leans to a side, then what is on topic; and how many to
    show.
    """

    def rank(group: EvidenceGroup) -> tuple[bool, bool, bool]:
        best = group.best
        return best.relation == "no_relation", not leans(best), not best.about

    counting = sum(group.best.relation != "no_relation" for group in groups)
    leaning_groups = sum(leans(group.best) for group in groups)
    return sorted(groups, key=rank), counting or leaning_groups or 1


def _claim_text(claim: Claim, groups: Sequence[EvidenceGroup], shown: str, editable: bool) -> Node:
    """Draw the claim: its rewording as changes, or its values that differ from the source's."""
    words: list[Child]
    if claim.enriched:
        undo = button("Check it as written", f"as_written:{claim.id}") if editable else None
        changes = el("span", *answer.shown(claim.text, claim.enriched), class_="enriched")
        words = [changes, " ", undo]
    else:
        against = [g.best for g in groups if g.best.relation == "contradicted"]
        spans = differing_spans(claim.text, against[0].deciding_sentence)[0] if against else []
        words = _marked(claim.text, spans, "differs")
    return el("p", *words, class_=f"claim-text {style_class(shown)}", dir="auto")


def _reason(verdict: Verdict | None, label: str, report: Report) -> str:
    if verdict is None:
        return "Its sources are still being read." if label == "pending" else look(label).help
    like_this = badge_share(verdict, report)
    return f"{verdict.reason} {as_sentence(like_this) if like_this else ''}".strip()


def _folded(cards: Sequence[Node]) -> Node | None:
    if not cards:
        return None
    summary = el("summary", plural(len(cards), "undecided passage"))
    return el("details", summary, *cards, class_="rest")


def _uncovered(
    claim: Claim, groups: Sequence[EvidenceGroup], label: str, pages: Pages
) -> Node | None:
    """Name the words of a claim that the closest passage doesn't have, where they are few."""
    if label not in ("unclear", "no_relation") or not groups or _note(groups[0].best):
        return None
    closest = groups[0].best
    page = pages.get(closest.page_id)
    title = page.title if page else ""
    missing = uncovered(
        claim.statement, f"{title}\n{''.join(quote(closest, pages))}\n{closest.text}"
    )
    if not 0 < len(missing) <= MAX_UNCOVERED:
        return None
    words = ", ".join(quoted(word) for word in missing)
    return el("p", f"The closest passage doesn't mention {words}.", class_="reason", dir="auto")


def _searched(report: Report) -> Node:
    sources = report.settings.get("sources", ())
    labels = [source_label(str(s)) for s in sources] if isinstance(sources, list | tuple) else []
    read = plural(len(report.pages), "source")
    where = ", ".join(labels) or "no source"
    return el("p", f"Searched {where}; read {read}.", class_="reason")


def analyst(row: ClaimRow) -> Node | None:
    """Draw the analyst's verdict, its note, and the badge it was given on if that changed."""
    own = row.own
    if own is None:
        return None
    earlier = ""
    if own.badge and own.badge != (row.verdict.label if row.verdict else None):
        earlier = f" The model's was “{look(own.badge).word}” then."
    note = el("span", f" {own.note}", dir="auto") if own.note else None
    words: list[Child] = ["The analyst's verdict: ", badge(own.label), note, earlier]
    return el("p", *words, class_="reason analyst")


def _failures(claim: Claim, verdict: Verdict | None, report: Report) -> list[Node]:
    """Draw the failures of this claim alone, unless its verdict states them already."""
    reason = verdict.reason if verdict else ""
    subjects = (claim.text, claim.id)
    messages = dict.fromkeys(f.message for f in report.failures if f.subject in subjects)
    return [el("p", as_sentence(m), class_="reason") for m in messages if m not in reason]


def _other_verdict(verdict: Verdict | None, report: Report) -> Node | None:
    """Name the two verifiers of a claim that was rechecked, and the verdict that didn't decide."""
    if verdict is None or verdict.other is None:
        return None
    second = _verifier_label(report.versions.get(f"verifier:{verdict.claim_id}", ""))
    first = _verifier_label(report.versions.get("verifier", ""))
    words = f"Rechecked by {second}: "
    if verdict.other.reader == "first":
        words = f"Decided by {second}. First verdict, by {first}: "
    return el("p", words, badge(verdict.other.label), class_="reason second-reading")


def _verifier_label(version: str) -> str:
    name = verifier_name(version)
    return VERIFIERS[name].label if name in VERIFIERS else name


# --- quotations ---

QUOTED_AS: dict[Outcome, tuple[str, str]] = {
    "verbatim": ("supported", "word for word"),
    "altered": ("contradicted", "altered"),
    "not_found": ("missing", "not found"),
}


def _quotations(claim: Claim, spoken: Sequence[Quotation], report: Report) -> Iterator[Node]:
    """Draw what became of the quotations in a claim."""
    for one in spoken:
        if any(start < one.span[1] and one.span[0] < end for start, end in claim.spans):
            label, word = QUOTED_AS[one.outcome]
            where = _where_quoted(one, report)
            words: list[Child] = ["Quotation ", badge(label, word=word), *where]
            yield el("p", *words, class_="reason quotation", dir="auto")


def _where_quoted(one: Quotation, report: Report) -> list[Child]:
    if one.page is None:
        return [f" in none of {plural(len(report.pages), 'source')}: “{one.text}”"]
    title = el("em", _title(one.page), dir="auto")
    words = answer.shown(one.source, one.text) if one.outcome == "altered" else [one.text]
    at = f"{one.at[0]},{one.at[1]},{one.at[0]},{one.at[1]}"
    return [
        " in ",
        title,
        ": “",
        *words,
        "” ",
        _text_button("Open at this quotation", one.page, at),
    ]


def quoted_words(spoken: Sequence[Quotation]) -> str:
    """Count the quotations by what became of them: "3 quotations: 1 altered, 2 word for word"."""
    if not spoken:
        return ""
    counts = Counter(one.outcome for one in spoken)
    outcomes = [name for name in reversed(QUOTED_AS) if counts[name]]
    parts = [f"{counts[name]} {QUOTED_AS[name][1]}" for name in outcomes]
    return f"{plural(len(spoken), 'quotation')}: {', '.join(parts)}"


# --- all claims ---


def tip(row: ClaimRow) -> str:
    """Return the sentence that decides on a claim, with its source."""
    if row.piece is None:
        return ""
    return f"{quoted(row.piece.deciding_sentence, TIP)} {_title(row.page)}"


def footnotes(report: Report) -> Node:
    """Draw a numbered note for each claim, for print."""
    notes = []
    for row in claim_rows(report):
        style = look(row.badge)
        words: list[Child] = [el("strong", f"{style.icon} {style.word}. ")]
        words.append(row.verdict.reason if row.verdict else "")
        if row.piece:
            words.append(f" “{row.piece.deciding_sentence}” ")
            words += _cited(row.page, row.piece.sentence[0])
        notes.append(el("li", *words, analyst(row), value=row.number))
    return el("ol", *notes, class_="footnotes")


def _cited(page: Page | None, offset: int) -> list[Child]:
    if page is None:
        return []
    title = el("em", page.cited)
    if page.facts_from:
        return [title, f", facts from {page.facts_from}."]
    number = page.page_number(offset)
    place = f", page {number}" if number else ""
    return [title, f", {page.url}{place}, read {date(page.fetched_at)}."]


def headline(report: Report) -> str:
    """Summarise the badges of a run, the worst first: "1 contradicted, 6 likely supported".

    Engines that could not be used stand behind them, or are the reason why nothing was searched.
    """
    counts = Counter(badges(report))
    del counts["not_checked"]
    down = {f.subject for f in report.failures if f.kind == "source_unread"}
    if not down:
        return ", ".join(counted(counts)) or "No claim to check"
    failed = f"{' and '.join(map(source_label, sorted(down)))} could not be used"
    sources = of_settings(report.settings.get("sources", ()))
    if {source.name for source in sources} <= down:
        missing = counts.pop("missing", 0)
        unsearched = [f"{missing} not searched: {failed}"] if missing else []
        return ", ".join([*unsearched, *counted(counts)]) or failed
    return f"{', '.join(counted(counts)) or 'No claim to check'}; {failed}"


def totals(report: Report) -> str:
    """Summarise the verdicts of a run in one sentence."""
    counts = Counter(badges(report))
    unreached = counts.pop("not_reached", 0)
    del counts["not_checked"]
    claims, checked = len(report.claims), counts.total()
    if not checked and not unreached:
        sentences = plural(claims, "sentence")
        return f"None of the {sentences} states something that sources could support or contradict."
    were = "was" if 1 in (checked, claims) else "were"
    badges_ = f": {', '.join(counted(counts))}" if checked else ""
    rest = ""
    if unreached:
        rest = f" {unreached} {'was' if unreached == 1 else 'were'} not reached."
    return f"{checked} of {plural(claims, 'claim')} {were} checked{badges_}.{rest}"
