"""What Compare shows, as plain data: segmenters by sentence, or two answers by point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
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
        parts.append((text[end_of_last:start], False))
        parts.append((text[start:end], True))
        end_of_last = end
    parts.append((text[end_of_last:], False))
    return [part for part in parts if part[0]]


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
    return {
        "first": plural(len(kinds), "sentence") + " of the answer",
        "columns": columns,
        "filters": [
            ("", "All", len(kinds)),
            ("differs", "Verdict differs", number["differs"]),
            ("part", "Only a part", number["part"]),
            ("alike", "Alike", number["alike"]),
        ],
        "insight": segmenters_insight(kinds),
        "sections": [{"title": "", "rows": drawn}],
        "more": True,
    }


def _facts(one: Column, running: bool) -> list[str]:
    """Return the figures of a segmenter, in two lines."""
    figures = one.figures
    claims = f"{plural(figures.claims, 'claim')}, {figures.claims_per_sentence:.1f} per sentence"
    measured = [f"DecompScore {format_cell(figures.decompscore)}"]
    if not running:
        measured.append(f"FActScore {format_cell(score([counts(one)]).factscore)}")
    return [f"{claims}, {one.seconds:.1f} s", ", ".join(measured)]


def sentence_kinds(
    comparison: Comparison, by_id: Mapping[str, ClaimRow]
) -> list[tuple[SentenceRow, Kind]]:
    """Return the sentences that have claims, each with how the segmenters compare on it."""
    kinds: list[tuple[SentenceRow, Kind]] = []
    for row in comparison.rows:
        if not any(row.claims):
            continue
        kind = _kind(_groups(row, by_id))
        for claim_id in chain(*row.claims):
            verdict = by_id[claim_id].verdict
            if verdict is None or verdict.label == "not_reached":
                kind = "pending"
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
    worst = {names[0] for names in groups}
    if len(worst) > 1:
        return "differs"
    if any(len(names) > 1 for names in groups):
        return "part"
    return "alike"


def segmenters_insight(kinds: Sequence[tuple[SentenceRow, Kind]]) -> list[tuple[str, bool]]:
    """Say in a sentence what depends on the split; the parts that are bold are marked."""
    number = Counter[str](kind for _, kind in kinds)
    done = len(kinds) - number[WAITING]
    if not done:
        return [("No sentence is finished yet.", False)]
    sentences = plural(done, "sentence").partition(" ")[2]
    parts = [
        ("The verdict depends on the split in ", False),
        (f"{number['differs']} of {done}", True),
        (f" {sentences}", False),
    ]
    if number["part"]:
        parts.append((f"; in {number['part']} more, a finer split shows which part it is", False))
    parts.append((".", False))
    return parts


def _sentence(
    row: SentenceRow,
    kind: Kind,
    comparison: Comparison,
    by_id: Mapping[str, ClaimRow],
    running: bool,
) -> Data:
    """Return the row of a sentence: its pieces, and a cell of claims for each segmenter.

    Args:
        row: The sentence, with the ids of its claims by segmenter.
        kind: How the segmenters compare on it.
        comparison: What the sentence is of.
        by_id: The claims of all segmenters.
        running: Verdicts are still to come.
    """
    answer = comparison.report.answer
    first, last = row.sentence
    whole = " ".join(answer[first:last].split())
    cuts = _cuts(row, by_id)
    pieces = [_piece(answer, cut) for cut in cuts]
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
    return {
        "key": str(first),
        "kind": kind,
        "flag": _flag(kind, _groups(row, by_id)),
        "about": "",
        "pieces": pieces if whole else ["Without a place in the answer"],
        "cells": cells,
    }


def _cuts(row: SentenceRow, by_id: Mapping[str, ClaimRow]) -> list[Span]:
    """Cut a sentence where a claim of a segmenter starts or ends."""
    first, last = row.sentence
    places = {first, last}
    for claim_id in chain(*row.claims):
        for place in chain(*by_id[claim_id].claim.spans):
            if first < place < last:
                places.add(place)
    return list(pairwise(sorted(places)))


def _piece(answer: str, cut: Span) -> str:
    """Return a part of a sentence as it is read, with the spaces around it."""
    part = answer[slice(*cut)]
    before = " " if part[:1].isspace() else ""
    after = " " if part[-1:].isspace() else ""
    return before + visible(answer, *cut) + after


def _flag(kind: Kind, groups: Sequence[Sequence[str]]) -> str:
    """Return the words below a sentence on which the segmenters differ."""
    if kind == "differs":
        return "Verdict differs"
    if kind == "part":
        return PARTS.get(groups[0][0], "")
    return ""


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
    alone_count = 0
    for number, side in enumerate(SIDES):
        alone = [rows[side][claim.id] for claim in result.alone(side)]
        alone_count += len(alone)
        section = {
            "title": f"Only {titles[number]} says",
            "kind": "alone",
            "rows": [_alone(row, number) for row in alone],
            "folded": _counted(alone),
        }
        sections.append(section)
    return {
        "first": "",
        "columns": columns,
        "source": "The source says",
        "filters": [
            ("", "All", len(against) + len(both) + alone_count),
            ("differs", "Disagree", len(against)),
            ("both", "Both say", len(both)),
            ("alone", "Only one says", alone_count),
        ],
        "insight": answers_insight(result, titles),
        "sections": [section for section in sections if section["rows"]],
    }


def _point(match: Match, first: Mapping[str, ClaimRow], second: Mapping[str, ClaimRow]) -> Data:
    """Return the row of a point of both answers, with the first claims' differences boxed."""
    ones = [first[claim_id] for claim_id in match.first]
    others = [second[claim_id] for claim_id in match.second]
    one, other = ones[0], others[0]
    spans = differing_spans(one.claim.text, other.claim.text)
    cells = [_cell(ones, spans[0]), _cell(others, spans[1])]
    key = f"{one.claim.id}{other.claim.id}"
    line = _line(key, about(one, other), cells, [*ones, *others])
    flag = "Both may be true" if match.agreement == "differs" else ""
    return line | {"flag": flag}


def _cell(rows: Sequence[ClaimRow], boxes: Sequence[Span] = ()) -> list[Data]:
    """Return the claims of a cell; the boxes are of the first one."""
    first, *others = rows
    cell = [claim_data(first, False, boxes)]
    for row in others:
        cell.append(claim_data(row, running=False))
    return cell


def _alone(row: ClaimRow, column: int) -> Data:
    """Return the row of a claim of one answer."""
    cells: list[list[Data]] = [[], []]
    cells[column] = _cell([row])
    return _line(row.claim.id, about(row, row), cells, [row])


def _line(key: str, about: str, cells: list[list[Data]], rows: Sequence[ClaimRow]) -> Data:
    """Return a row; its source is that of the contradicted claim, else of a supported one."""
    source: object = None
    for row in sorted(rows, key=_by_decision):
        source = claim_data(row, running=False)["quote"]
        if source:
            break
    return {
        "key": key,
        "about": about,
        "pieces": [],
        "cells": cells,
        "source": source,
    }


def _by_decision(row: ClaimRow) -> int:
    """Return a key that puts contradicted claims first and supported ones next."""
    label = row.verdict.assessment or row.verdict.label if row.verdict else ""
    return {"contradicted": 0, "supported": 1}.get(label, 2)


def about(one: ClaimRow, other: ClaimRow) -> str:
    """Name the point of two claims: the first noun of both, or of claim and source, or a word."""
    texts = [other.claim.text]
    for row in (one, other):
        if row.piece:
            texts.append(row.piece.deciding_sentence)
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
    """Count claims by group in words."""
    number = group_counts(row.badge for row in rows)
    words = []
    for name, group in GROUPS.items():
        if number[name]:
            words.append(f"{number[name]} {group.word}")
    return ", ".join(words)


def answers_insight(result: TwoAnswers, titles: Sequence[str]) -> list[tuple[str, bool]]:
    """Say in a sentence or two where the answers disagree, and which one the sources support."""
    points = len(result.disagreements)
    if not points:
        return [("No point was found on which the two disagree.", False)]
    parts = [
        ("The two disagree on ", False),
        (plural(points, "point"), True),
        (".", False),
    ]
    number = Counter(result.supported(match) for match in result.disagreements)
    for side, title in zip(SIDES, titles, strict=True):
        if number[side]:
            on = "all of them" if number[side] == points > 1 else f"{number[side]}"
            parts.append((f" The sources support {title} on {on}.", False))
    return parts
