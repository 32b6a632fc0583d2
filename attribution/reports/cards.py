"""Draw the card of a claim, with the buttons that change it, and read what their clicks ask for.

The card has the verdict in a sentence, the answer beside its source, and a fold. A click arrives as
words separated by colons: `edit:CLAIM`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import TypeAdapter, ValidationError

from attribution import edits
from attribution.reports import answer
from attribution.reports.claim_rows import (
    ClaimRow,
    leans,
    opposed,
    quote,
    relation_label,
    verdict_sentence,
)
from attribution.reports.html import (
    Child,
    Node,
    as_sentence,
    badge,
    el,
    link,
    link_to_sentence,
    plural,
    safe_url,
)
from attribution.reports.looks import RELATIONS, counted, look, style_class
from attribution.reports.trail import chain, facts, text_button, why
from attribution.review.quotations import Outcome, Quotation
from attribution.searchers import source_label
from attribution.text.passages import visible
from attribution.text.quantities import differing_spans
from attribution.text.words import words_of
from attribution.types import NOTE, Claim, Evidence, Page, Provenance, Report, Span
from attribution.verdicts import SIDES, leaning, nearest_evidence, strongest
from attribution.verifiers.calibration import badges, share, verifier_of

NEAREST = ("no_relation", "missing")  # labels of claims whose nearest passage decides nothing
Pages = Mapping[str, Page]


@dataclass(frozen=True)
class CardSettings:
    """What a card shows beside its claim, and whether it has buttons.

    Attributes:
        is_editable: Add the controls that change the run.
        is_running: The run is in progress.
        provenance: How pages were found.
        quotations: The quotations of the answer.
        citations: What the sources that a claim cites say of it, by claim.
    """

    is_editable: bool = False
    is_running: bool = False
    provenance: Provenance | None = None
    quotations: Sequence[Quotation] = ()
    citations: Mapping[str, str] | None = None


# --- the card ---


def panel(row: ClaimRow, report: Report, settings: CardSettings | None = None) -> Node:
    """Draw everything about one claim.

    Args:
        row: The claim with its verdict and evidence.
        report: The run.
        settings: What else the card shows; by default nothing.
    """
    settings = settings or CardSettings()
    pages = {page.id: page for page in report.pages}
    return el(
        "div",
        _head(row, report),
        el("h3", verdict_sentence(row), class_="say"),
        _line(_trust(row, report)),
        _line(row.note and f"Note: {row.note}"),
        _pair(row, report, pages),
        _line((settings.citations or {}).get(row.claim.id, "")),
        *_quotations(row.claim, settings.quotations, report),
        step_buttons(row.claim, row.badge) if settings.is_editable else None,
        None if settings.is_running else _more(row, report, pages, settings),
        class_=f"panel-body {style_class(row.badge)}",
    )


def _head(row: ClaimRow, report: Report) -> Node:
    """Draw the badge, the claim's place, and the model's verdict beside the analyst's own."""
    place: list[Child] = [
        el("span", "Claim ", class_="claim-word"),
        f"{row.number} of {len(report.claims)}",
    ]
    model: Node | None = None
    if row.own:
        place = ["by the analyst"]
        style = look(row.model_badge)
        model = el("span", f"model: {style.icon} {style.word.lower()}", class_="quiet model")
    elif row.is_edited:
        place.append(", edited by the analyst")
    own = badge(row.badge, is_own=row.own is not None)
    return el("div", own, el("span", *place, class_="quiet"), model, class_="head")


def _line(words: str) -> Node | None:
    return el("p", words, class_="why-line", dir="auto") if words else None


def _trust(row: ClaimRow, report: Report) -> str:
    """Say which rule decided, and how often such verdicts were right."""
    if row.own or row.verdict is None or row.verdict.label in ("missing", "not_checked"):
        return ""
    right = share(verifier_of(row.claim.id, report), row.verdict)
    reason = as_sentence(row.verdict.reason)
    is_said = reason == verdict_sentence(row)
    if is_said or row.verdict.label == "no_relation":
        reason = ""  # it stands above
    return f"{reason} {as_sentence(right)}".strip()


def _pair(row: ClaimRow, report: Report, pages: Pages) -> Node:
    """Draw the claim above the sentences that decide, with their differences boxed in both.

    Above a claim that was reworded stand the answer's own words.
    """
    pieces = _deciding(row)
    claim = row.claim
    own = claim.text
    if row.is_edited and claim.spans:
        own = " … ".join(visible(report.answer, *span) for span in claim.spans)
    is_same = words_of(own) == words_of(claim.statement)
    words = answer.shown(own, claim.statement)
    if pieces and pieces[0].relation != "entailed":
        boxed, _ = _differences(claim.statement, pieces[0])
        words = answer.spanned(claim.statement, boxed)
    rows: list[Node] = []
    if not is_same:
        rows += [el("dt", "Answer"), el("dd", own, class_="claim-text", dir="auto")]
    label, style = ("Answer", "claim-text") if is_same else ("Checked as", "checked")
    rows += [el("dt", label, class_=style), el("dd", *words, dir="auto", class_=style)]
    heading = "Nearest" if row.badge in NEAREST else "Source"
    for piece in pieces:
        style = f"quote {style_class(relation_label(piece))}"
        rows += [el("dt", heading), el("dd", *_quoted(row, piece, pages), class_=style)]
    return el("dl", *rows, class_="pair")


def _differences(claim: str, piece: Evidence) -> tuple[list[Span], list[Span]]:
    """Return the spans to box in a claim and in the sentence that decides."""
    return differing_spans(claim, piece.deciding_sentence, piece.relation == "contradicted")


def _deciding(row: ClaimRow) -> list[Evidence]:
    """Return the passages to show: both sides of a conflict, or the one that decides."""
    sides = opposed(row.evidence) if row.badge == "conflicting" else None
    if sides:
        return list(sides)
    piece = row.piece
    if piece is None and row.badge in NEAREST:
        piece = nearest_evidence(row.evidence, "unclear")
    return [piece] if piece else []


def _quoted(row: ClaimRow, piece: Evidence, pages: Pages) -> list[Child]:
    """Draw a sentence in its context, and the line that says where it stands."""
    page = pages[piece.page_id]
    text = quote(piece)
    words: list[Child] = [text.sentence]
    if piece.relation != "entailed":
        _, spans = _differences(row.claim.statement, piece)
        words = answer.spanned(text.sentence, spans)
    sentence = el("strong", *words, class_="deciding")
    source = el(
        "p",
        el("strong", page.name, dir="auto"),
        el("span", facts(page, piece.sentence[0])),
        _open(piece, page, text.sentence),
        class_="source-line",
    )
    return [el("blockquote", text.before, sentence, text.after, dir="auto"), source]


# --- the way to a sentence ---


def _open(piece: Evidence, page: Page, sentence: str) -> Node:
    """Link to the sentence: on the web, or in the stored text."""
    if page.kind == "web":
        number = page.page_number(piece.sentence[0])
        address = safe_url(page.url)
        if number and address:  # browsers find no sentence in a PDF
            address = f"{address.partition('#')[0]}#page={number}"
            return link(f"Open at page {number} ↗", address, "open")
        address = link_to_sentence(page.url, sentence)
        if address:
            return link("Open at this sentence ↗", address, "open")
    if page.text:
        return text_button("Open at this sentence", page, piece.sentence)
    return el("span", "Its text was not shared.")


# --- the fold ---


def _more(row: ClaimRow, report: Report, pages: Pages, settings: CardSettings) -> Node:
    """Draw the fold: the passages with their reasons, every step to the verdict, and the edits."""
    claim = row.claim
    is_editable = settings.is_editable
    pieces = sorted(row.evidence, key=_rank)
    count = el("span", f" · {plural(len(row.evidence), 'passage')}", class_="quiet")
    label = f"Edit, split or merge claim {row.number}"
    link = button("Edit, split or merge", f"edit:{claim.id}", label)
    edit = el("p", link, class_="links actions")
    return el(
        "details",
        el("summary", "More about this claim", count),
        *(_passage(piece, report, pages, is_editable) for piece in pieces),
        chain(row, report, settings.provenance),
        _excluded(row, pages, is_editable),
        edit if is_editable else None,
        class_="fold",
    )


def _rank(piece: Evidence) -> tuple[bool, bool, bool, float]:
    """Order what counts first, then what leans to a side, then what is on topic."""
    return piece.relation == "no_relation", not leans(piece), not piece.about, -strongest(piece)


def _passage(piece: Evidence, report: Report, pages: Pages, is_editable: bool) -> Node:
    """Draw a passage with its reasons."""
    page = pages[piece.page_id]
    return el(
        "article",
        el("p", relation_badge(piece), " ", page.name, class_="head"),
        el("p", f"“{piece.deciding_sentence}”", dir="auto"),
        el(
            "p",
            _open(piece, page, piece.deciding_sentence),
            button("Exclude", _click("exclude", piece), EXCLUDE) if is_editable else None,
            class_="links",
        ),
        why(piece, report, page),
        class_=f"card {style_class(relation_label(piece))}",
    )


def relation_badge(piece: Evidence) -> Node:
    """Draw the relation of a passage to a claim."""
    if leans(piece):
        return badge("unclear", word=f"Leans towards {SIDES[leaning(piece.probabilities)]}")
    label, word = RELATIONS[piece.relation]
    return badge(label, word=word)


# --- quotations ---

QUOTED_AS: dict[Outcome, tuple[str, str]] = {
    "verbatim": ("supported", "word for word"),
    "altered": ("contradicted", "altered"),
    "not_found": ("missing", "not found"),
}


def _quotations(claim: Claim, quotations: Sequence[Quotation], report: Report) -> list[Node]:
    """Draw what became of the quotations in a claim."""
    nodes: list[Node] = []
    for quotation in quotations:
        start, end = quotation.span
        if any(first < end and start < last for first, last in claim.spans):
            label, word = QUOTED_AS[quotation.outcome]
            words = ["Quotation ", badge(label, word=word), *_where_quoted(quotation, report)]
            nodes.append(el("p", *words, class_="why-line quotation", dir="auto"))
    return nodes


def _where_quoted(quotation: Quotation, report: Report) -> list[Child]:
    page = quotation.page
    if page is None:
        return [f" in any of {plural(len(report.pages), 'source')}: “{quotation.text}”"]
    words: list[Child] = [quotation.text]
    if quotation.outcome == "altered":
        words = answer.shown(quotation.source, quotation.text)
    opener = text_button("Open at this quotation", page, quotation.at)
    return [" in ", el("em", page.name, dir="auto"), ": “", *words, "” ", opener]


# --- all claims ---


def headline(report: Report) -> str:
    """Summarise the badges of a run, the worst first: "1 contradicted, 6 likely supported".

    Engines that could not be used stand behind them.
    """
    counts = Counter(badges(report))
    del counts["not_checked"]
    words = ", ".join(counted(counts)) or "No claim to check"
    down = {failure.subject for failure in report.failures if failure.kind == "source_unread"}
    if not down:
        return words
    names = " and ".join(map(source_label, sorted(down)))
    return f"{words}; {names} could not be used"


# --- buttons ---

_CHANGE: TypeAdapter[edits.Change] = TypeAdapter(edits.Change)
Step = Literal["edit", "correct", "source", "web"]  # that a click asks for, beside a change
STEPS: tuple[Step, ...] = get_args(Step)
OFFERED: Mapping[str, tuple[Step, ...]] = {
    "missing": ("source", "web"),
    "no_relation": ("source", "web"),
    "unclear": ("source",),
    "not_reached": ("source",),
}
WORDS: dict[Step, str] = {"source": "Add a source", "web": "Search the web"}
EXCLUDE = "Exclude this passage: it no longer counts for this claim"


@dataclass(frozen=True)
class StepRequest:
    """A step that somebody takes for a claim."""

    step: Step
    claim: Claim


def button(text: str, request: str, label: str = "", class_: str = "open") -> Node:
    """Build a button that requests a change.

    Args:
        text: What it shows.
        request: The change, as `edit:ID`.
        label: A longer text for screen readers.
        class_: Its CSS class.
    """
    return el("button", text, type="button", class_=class_, data_edit=request, aria_label=label)


def step_buttons(claim: Claim, badge: str) -> Node | None:
    """Build a button for each step that helps a claim without a verdict."""
    steps = OFFERED.get(badge, ())
    buttons = (button(WORDS[step], f"{step}:{claim.id}", class_="btn") for step in steps)
    return el("p", *buttons, class_="links next-steps") if steps else None


def _excluded(row: ClaimRow, pages: Pages, editable: bool) -> Node | None:
    """Build a folded list of the excluded passages; an `editable` one can be included again."""
    items = []
    for piece in row.excluded:
        page = pages[piece.page_id]
        back = button("Include", _click("include", piece), "Include this passage again")
        words = el("span", f"“{piece.deciding_sentence}” ")
        items.append(el("li", f"{page.name}: ", words, back if editable else None, dir="auto"))
    if not items:
        return None
    summary = el("summary", f"{plural(len(items), 'passage')} excluded by hand")
    return el("details", summary, el("ul", *items), class_="same excluded")


def _click(action: str, piece: Evidence) -> str:
    return f"{action}:{piece.claim_id}:{piece.page_id}:{piece.start}:{piece.end}"


def requested(
    report: Report, request: object
) -> edits.Change | StepRequest | Literal["undo"] | None:
    """Parse the request of a click.

    Args:
        report: The run that the click is about.
        request: Words of a browser, which may hold anything.

    Returns:
        A change, a step to take, or "undo"; None if it is no request about a claim of the report.
    """
    if request == "undo":
        return "undo"
    action, _, rest = str(request or "").partition(":")
    claim_id, _, rest = rest.partition(":")
    claim = next((claim for claim in report.claims if claim.id == claim_id), None)
    if claim is None:
        return None
    for step in STEPS:
        if action == step:
            return StepRequest(step, claim)
    fields: dict[str, object] = {"claim_id": claim_id}
    if action == "judge":
        label, _, note = rest.partition(":")
        fields |= {"kind": "judge", "label": label or None, "note": note[:NOTE]}
    elif action in ("exclude", "include"):
        fields |= {"kind": "exclude", "excluded": action == "exclude"}
        fields |= zip(("page_id", "start", "end"), rest.split(":"), strict=False)
    try:
        return _CHANGE.validate_python(fields)
    except ValidationError:
        return None
