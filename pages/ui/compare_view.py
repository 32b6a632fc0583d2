"""What Compare shows, as plain data: segmenters by sentence, or two answers by point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from attribution.reports.claim_rows import ClaimRow, claim_rows
from attribution.reports.html import plural
from attribution.reports.looks import GROUPS, QUIET, group_counts, group_data, group_of, look
from attribution.segmenters import SEGMENTERS
from attribution.studies.segmenter_comparison import Column, Comparison, SentenceRow, counts
from attribution.studies.subclaim_scores import score
from attribution.studies.two_answers import SIDES, Match, TwoAnswers
from attribution.text.parse import parse
from attribution.text.passages import visible
from attribution.text.quantities import differing_spans
from attribution.text.words import stem, terms, words_of
from attribution.text_files import format_cell
from attribution.types import Report, Span
from attribution.verifiers.calibration import badges

Data = dict[str, object]
Kind = Literal["differs", "part", "alike", "pending"]
NAMES = ("A", "B")
PARTS = {"wrong": "Part is wrong", "check": "Part to check", "none": "Part without source"}
WAITING = "pending"  # the badge and the kind of what has no verdict yet
ABOUT = 24  # characters of the name of a point


# --- parts of both ---


def column(title: str, report: Report, facts: Sequence[str], running: bool) -> Data:
    """Return the head of a column: its title, its facts, and the counts of its claims."""
    shown = badges(report, WAITING if running else "not_reached")
    quiet = group_counts(shown)[QUIET]
    return {"title": title, "facts": facts, "groups": group_data(shown), "quiet": quiet}


def claim_data(row: ClaimRow, running: bool, boxes: Sequence[Span] = ()) -> Data:
    """Return a claim with its badge, and what opens when it is selected."""
    badge = WAITING if running and row.verdict is None else row.badge
    quote: Data | None = None
    if row.piece and row.page:
        sentence = row.piece.deciding_sentence
        _, spans = differing_spans(row.claim.text, sentence)
        quote = {"text": boxed(sentence, spans), "source": row.page.title}
    return {
        "id": row.claim.id,
        "group": group_of(badge),
        "icon": look(badge).icon,
        "word": look(badge).word,
        "text": boxed(row.claim.text, boxes),
        "why": row.verdict.reason if row.verdict else "",
        "quote": quote,
    }


def boxed(text: str, spans: Sequence[Span]) -> list[tuple[str, bool]]:
    """Cut a text into parts, each with whether it is boxed."""
    parts: list[tuple[str, bool]] = []
    end_of_last = 0
    for start, end in spans:
        parts += [(text[end_of_last:start], False), (text[start:end], True)]
        end_of_last = end
    return [part for part in (*parts, (text[end_of_last:], False)) if part[0]]


# --- segmenters ---


def segmenters_data(comparison: Comparison, in_use: str, running: bool) -> Data:
    """Return the claims of each segmenter, a row for each sentence in the order of the answer."""
    by_id = {row.claim.id: row for row in claim_rows(comparison.report)}
    columns = []
    for one in comparison.columns:
        head = column(SEGMENTERS[one.segmenter].label, one.report, _facts(one, running), running)
        columns.append(head | {"use": one.segmenter, "in_use": one.segmenter == in_use})
    kinds = sentence_kinds(comparison, by_id)
    drawn = []
    for row, kind in kinds:
        drawn.append(_sentence(row, kind, comparison, by_id, running))
    number = Counter(kind for _, kind in kinds)
    filters = [("", "All", len(kinds)), ("differs", "Verdict differs", number["differs"])]
    filters += [("part", "Only a part", number["part"]), ("alike", "Alike", number["alike"])]
    return {
        "first": plural(len(kinds), "sentence") + " of the answer",
        "columns": columns,
        "filters": filters,
        "insight": segmenters_insight(kinds),
        "sections": [{"title": "", "rows": drawn}],
        "more": True,
    }


def _facts(one: Column, running: bool) -> list[str]:
    """Return the figures of a segmenter, in two lines."""
    figures = one.figures
    claims = f"{plural(figures.claims, 'claim')}, {figures.claims_per_sentence:.1f} per sentence"
    measured = []
    if figures.decompscore is not None:
        measured.append(f"DecompScore {format_cell(figures.decompscore)}")
    if not running:
        measured.append(f"FActScore {format_cell(score([counts(one)]).factscore)}")
    return [f"{claims}, {one.seconds:.1f} s", ", ".join(measured)]


def sentence_kinds(
    comparison: Comparison, by_id: Mapping[str, ClaimRow]
) -> list[tuple[SentenceRow, Kind]]:
    """Return the sentences that have claims, each with how the segmenters compare on it."""
    kinds: list[tuple[SentenceRow, Kind]] = []
    for row in comparison.rows:
        if any(row.claims):
            verdicts = [by_id[claim_id].verdict for ids in row.claims for claim_id in ids]
            is_pending = any(v is None or v.label == "not_reached" for v in verdicts)
            kind: Kind = "pending" if is_pending else _kind(_groups(row, by_id))
            kinds.append((row, kind))
    return kinds


def _groups(row: SentenceRow, by_id: Mapping[str, ClaimRow]) -> list[list[str]]:
    """Return the groups of each segmenter's claims, the worst first; opinions are left out."""
    groups: list[list[str]] = []
    for ids in row.claims:
        found = {group_of(by_id[claim_id].badge) for claim_id in ids}
        groups.append([name for name in GROUPS if name in found])
    return [names for names in groups if names]


def _kind(groups: Sequence[Sequence[str]]) -> Kind:
    """Return how the groups of each segmenter's claims compare."""
    if len({names[0] for names in groups}) > 1:
        return "differs"
    return "part" if any(len(names) > 1 for names in groups) else "alike"


def segmenters_insight(kinds: Sequence[tuple[SentenceRow, Kind]]) -> list[tuple[str, bool]]:
    """Say in a sentence what depends on the split; the parts that are bold are marked."""
    number = Counter[str](kind for _, kind in kinds)
    done = len(kinds) - number[WAITING]
    if not done:
        return [("No sentence is finished yet.", False)]
    sentences = plural(done, "sentence").partition(" ")[2]
    start = ("The verdict depends on the split in ", False)
    said = [start, (f"{number['differs']} of {done}", True), (f" {sentences}", False)]
    if number["part"]:
        said.append((f"; in {number['part']} more, a finer split shows which part it is", False))
    return [*said, (".", False)]


def _sentence(
    row: SentenceRow,
    kind: Kind,
    comparison: Comparison,
    by_id: Mapping[str, ClaimRow],
    running: bool,
) -> Data:
    answer, (first, last) = comparison.report.answer, row.sentence
    spans = [span for ids in row.claims for i in ids for span in by_id[i].claim.spans]
    ends = {first, last} | {p for span in spans for p in span if first < p < last}
    cuts = list(zip(sorted(ends), sorted(ends)[1:], strict=False))
    whole = " ".join(answer[first:last].split())
    cells = []
    for ids in row.claims:
        claims = []
        for claim_id in ids:
            claim = by_id[claim_id].claim
            data = claim_data(by_id[claim_id], running)
            data["lights"] = [n for n, cut in enumerate(cuts) if _meets(cut, claim.spans)]
            data["is_whole"] = claim.text.rstrip(".") == whole.rstrip(".")
            claims.append(data)
        cells.append(claims)
    pieces = [_piece(answer, cut) for cut in cuts]
    return {
        "key": str(first),
        "kind": kind,
        "flag": _flag(kind, _groups(row, by_id)),
        "about": "",
        "pieces": pieces if whole else ["Without a place in the answer"],
        "cells": cells,
    }


def _piece(answer: str, cut: Span) -> str:
    """Return a part of a sentence as it is read, with the spaces around it."""
    part = answer[slice(*cut)]
    return " " * part[:1].isspace() + visible(answer, *cut) + " " * part[-1:].isspace()


def _flag(kind: Kind, groups: Sequence[Sequence[str]]) -> str:
    if kind == "differs":
        return "Verdict differs"
    return PARTS.get(groups[0][0], "") if kind == "part" else ""


def _meets(cut: Span, spans: Sequence[Span]) -> bool:
    return any(start < cut[1] and cut[0] < end for start, end in spans)


# --- two answers ---


def answers_data(result: TwoAnswers, titles: Sequence[str]) -> Data:
    """Return the points of two answers, disagreements first; what only one says is folded."""
    rows = {}
    columns = []
    for side, title in zip(SIDES, titles, strict=True):
        report = result.report(side)
        rows[side] = {row.claim.id: row for row in claim_rows(report)}
        checked = sum(claim.checked for claim in report.claims)
        facts = [f"{plural(len(report.claims), 'claim')}, {checked} checked"]
        columns.append(column(title, report, facts, running=False) | {"open": report.id})
    against = [_point(match, rows["first"], rows["second"]) for match in result.disagreements]
    both = [_point(match, rows["first"], rows["second"]) for match in result.agreements]
    sections = [
        {"title": "Disagree", "kind": "differs", "rows": against},
        {"title": "Both say", "kind": "both", "rows": both},
    ]
    count = len(against) + len(both)
    for number, side in enumerate(SIDES):
        alone = [rows[side][claim.id] for claim in result.alone(side)]
        lines = [_alone(row, number) for row in alone]
        said = _counted(alone)
        title = f"Only {titles[number]} says"
        sections.append({"title": title, "kind": "alone", "rows": lines, "folded": said})
        count += len(lines)
    alone_count = count - len(against) - len(both)
    filters = [("", "All", count), ("differs", "Disagree", len(against))]
    filters += [("both", "Both say", len(both)), ("alone", "Only one says", alone_count)]
    return {
        "first": "",
        "columns": columns,
        "source": "The source says",
        "filters": filters,
        "insight": answers_insight(result, titles),
        "sections": [section for section in sections if section["rows"]],
    }


def _point(match: Match, first: Mapping[str, ClaimRow], second: Mapping[str, ClaimRow]) -> Data:
    ones, others = [first[i] for i in match.first], [second[i] for i in match.second]
    one, other = ones[0], others[0]
    spans = differing_spans(one.claim.text, other.claim.text)
    cells = [
        [claim_data(row, False, spans[0] if row is one else ()) for row in ones],
        [claim_data(row, False, spans[1] if row is other else ()) for row in others],
    ]
    line = _line(f"{one.claim.id}{other.claim.id}", about(one, other), cells, [*ones, *others])
    return line | {"flag": "Both may be true" if match.agreement == "differs" else ""}


def _alone(row: ClaimRow, column: int) -> Data:
    cells: list[list[Data]] = [[], []]
    cells[column] = [claim_data(row, running=False)]
    return _line(row.claim.id, about(row, row), cells, [row])


def _line(key: str, about: str, cells: list[list[Data]], rows: Sequence[ClaimRow]) -> Data:
    """Return a row; its source is that of the contradicted claim, else of a supported one."""
    order = ("contradicted", "supported")
    decided = sorted(rows, key=lambda row: _place(order, row.verdict.label if row.verdict else ""))
    quotes = [claim_data(row, running=False)["quote"] for row in decided]
    source = next((quote for quote in quotes if quote), None)
    return {"key": key, "about": about, "pieces": [], "cells": cells, "source": source}


def _place(order: Sequence[str], label: str) -> int:
    return order.index(label) if label in order else len(order)


def about(one: ClaimRow, other: ClaimRow) -> str:
    """Name the point of two claims: the first noun of both, or of claim and source, or a word."""
    texts = [other.claim.text, *(row.piece.deciding_sentence for row in (one, other) if row.piece)]
    own_words = {stem(word) for word in words_of(one.claim.text)}
    for text in texts:
        shared = own_words & {stem(word) for word in words_of(text)}
        for noun in (*_nouns(one.claim.text), *_nouns(text)):
            if stem(noun.lower()) in shared:
                return f"{noun[:1].upper()}{noun[1:ABOUT]}"
    common = terms(one.claim.text).content & terms(other.claim.text).content
    words = [word for word in words_of(one.claim.text) if stem(word) in common]
    return words[0].capitalize() if words else ""


def _nouns(text: str) -> list[str]:
    """Return the nouns of a text, without units and others that a number counts."""
    nouns: list[str] = []
    for token in parse(text):
        is_counted = any(child.pos_ == "NUM" for child in token.children)
        if token.pos_ in ("NOUN", "PROPN") and not is_counted:
            nouns.append(token.text)
    return nouns


def _counted(rows: Sequence[ClaimRow]) -> str:
    number = group_counts(row.badge for row in rows)
    return ", ".join(f"{number[n]} {g.word}" for n, g in GROUPS.items() if number[n])


def answers_insight(result: TwoAnswers, titles: Sequence[str]) -> list[tuple[str, bool]]:
    """Say in a sentence or two where the answers disagree, and which one the sources support."""
    points = len(result.disagreements)
    if not points:
        return [("No point was found on which the two disagree.", False)]
    said = [("The two disagree on ", False), (plural(points, "point"), True), (".", False)]
    number = Counter(result.supported(match) for match in result.disagreements)
    for side, title in zip(SIDES, titles, strict=True):
        if number[side]:
            on = "all of them" if number[side] == points > 1 else f"{number[side]}"
            said.append((f" The sources support {title} on {on}.", False))
    return said
