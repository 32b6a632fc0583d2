"""Show FActScore tables whose numbers open the facts behind them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.files import Cell, csv_text, format_cell
from attribution.reports.html import Child, Node, badge, el, plural, scrolling, table
from attribution.segmenters import SEGMENTERS
from attribution.studies.factscore.answer import JudgedFact, ScoredAnswer
from attribution.studies.factscore.experiment import Scored, as_json, cell, tables
from attribution.studies.results import Table
from attribution.verifiers import VERIFIERS
from pages.ui.components import number_button, number_table

SHOWN = 200  # facts on the page; the exports have all
FIRST = "0/0/1"  # the number whose rows are shown before any is clicked
OF_ANSWERS = ("answers", "respond ratio")
LABELS = {name: entry.label for name, entry in (*SEGMENTERS.items(), *VERIFIERS.items())}


def label(name: str) -> str:
    """Return the form's name of a decomposer or verifier; other words stay."""
    return LABELS.get(name, name)


@dataclass(frozen=True)
class Behind:
    """A selection of facts by decomposers (none: all) and verifiers (none: without verdicts)."""

    segmenters: tuple[str, ...] = ()
    verifiers: tuple[str, ...] = ()
    system: str | None = None
    answers: bool = False  # the answers themselves
    left_out: bool = False  # only facts that do not count


def of_cell(scored: Scored, result: Table, row: int, column: int) -> Behind | None:
    """Return the selection that a cell of a table counts; None for a cell that is a name."""
    cells, head = result.rows[row], result.columns[column]
    name, value = str(cells[0]), cells[column]
    if column == 0 or value is None or isinstance(value, str):
        return None
    if result.columns[0] == "system":
        system = "" if name == "not named" else name
        if head in OF_ANSWERS:
            return Behind(system=system, answers=True)
        return Behind(
            (head,), tuple(v for v in scored.verifiers if result.title.startswith(f"Systems by {v}:")), system
        )
    if result.columns[0] == "decomposer":
        if head == "answers":
            return Behind(answers=True)
        return Behind((name,), (head,) if head in scored.verifiers else ())
    if result.columns[0] != "verifier":
        return None
    if head in OF_ANSWERS:
        return Behind(answers=True)
    if head in ("distinct facts", "left out after a failure"):
        return Behind((), (name,), left_out=head != "distinct facts")
    least, most = str(cells[1]), str(cells[3])
    return Behind({"lowest": (least,), "highest": (most,)}.get(head, (least, most)), (name,))


def found(scored: Scored, results: Sequence[Table], place: str) -> Behind | None:
    """Return the selection that the number at TABLE/ROW/COLUMN counts."""
    try:
        number_, row, column = (int(part) for part in place.split("/"))
        return of_cell(scored, results[number_], row, column) if min(number_, row, column) >= 0 else None
    except (ValueError, IndexError):
        return None


def table_node(scored: Scored, result: Table, place: int) -> Node:
    """Draw a table with the form's names for decomposers and verifiers, its numbers as buttons."""
    rows = []
    for r, cells in enumerate(result.rows):
        drawn: list[Child] = []
        for c, shown in enumerate(cells):
            text = label(shown) if isinstance(shown, str) else format_cell(shown)
            of = f"{label(str(cells[0]))}, {label(result.columns[c])}"
            is_number = of_cell(scored, result, r, c) is not None
            drawn.append(number_button(f"{place}/{r}/{c}", text, of) if is_number else el("span", text, dir="auto"))
        rows.append(el("tr", el("th", drawn[0]), *(el("td", child) for child in drawn[1:])))
    return number_table(result.title, el("tr", *(el("th", label(c)) for c in result.columns)), rows)


def title(behind: Behind) -> str:
    """Return the title of a selection."""
    if behind.answers:
        return "The answers" + (f" of {behind.system or 'no named system'}" if behind.system is not None else "")
    facts = "The facts that were left out" if behind.left_out else "The facts"
    by = " and ".join(label(s) for s in dict.fromkeys(behind.segmenters)) or "all decomposers"
    judged = f", judged by {label(behind.verifiers[0])}" if behind.verifiers else ""
    return f"{facts} of {by}{judged}" + (f", answers of {behind.system}" if behind.system else "")


def rows(scored: Scored, behind: Behind) -> Node:
    """Draw the rows behind a number."""
    chosen = [(n, a) for n, a in enumerate(scored.answers, 1) if behind.system in (None, a.system)]
    if behind.answers:
        return _answers(chosen)
    drawn: list[Sequence[Child]] = []
    several = len(set(behind.segmenters)) > 1
    for number_, answer in chosen:
        for segmenter in dict.fromkeys(behind.segmenters) or [""]:
            for verifier in behind.verifiers or ("",):
                facts = _facts(answer, segmenter, verifier)
                of = f"{number_}, {label(segmenter)}" if several else str(number_)
                drawn += [_fact(of, answer, f) for f in facts if not (behind.left_out and _counts(f))]
    heads = ("Answer", "Fact", "Verdict", "Decided by")[: 4 if behind.verifiers else 2]
    more = [el("p", f"The first {SHOWN} of {len(drawn):,}; the JSON file has all.")] * (len(drawn) > SHOWN)
    if not drawn:
        return el("p", "There are none.", class_="ax-quiet")
    shown = [row[: len(heads)] for row in drawn[:SHOWN]]
    return el("div", scrolling(table(heads, shown, "ax-table ax-facts"), title(behind)), *more)


def _facts(answer: ScoredAnswer, segmenter: str, verifier: str) -> Sequence[JudgedFact | str]:
    """Return the judged facts; without a verifier, their ids."""
    if segmenter and verifier:
        return answer.facts(segmenter, verifier)
    if verifier:
        return answer.judged.get(verifier, ())
    return next((d.facts for d in answer.decomposed if d.segmenter == segmenter), ())


def _counts(fact: JudgedFact | str) -> bool:
    return not isinstance(fact, JudgedFact) or fact.counts


def _fact(of: str, answer: ScoredAnswer, fact: JudgedFact | str) -> Sequence[Child]:
    if not isinstance(fact, JudgedFact):
        return of, answer.texts.get(fact, ""), "", ""
    source = fact.title or fact.url
    decided: Child = fact.reason
    if fact.sentence:
        link = el("a", source, href=fact.url, target="_blank", rel="noreferrer")
        decided = el("span", f"“{fact.sentence}” ", link if fact.url.startswith("http") else el("span", source))
    return of, answer.texts.get(fact.fact, ""), badge(fact.label), decided


def _answers(chosen: Sequence[tuple[int, ScoredAnswer]]) -> Node:
    rows = [
        (str(n), a.question, " ".join(a.answer.split())[:300], "declines" if a.abstained else _sizes(a))
        for n, a in chosen[:SHOWN]
    ]
    return scrolling(table(("Answer", "Question", "Text", "Facts"), rows, "ax-table ax-facts"), "The answers")


def _sizes(answer: ScoredAnswer) -> str:
    return "; ".join(f"{label(d.segmenter)}: {plural(len(d.facts), 'fact')}" for d in answer.decomposed)


def all_tables(scored: Scored, gamma: float, failed: Sequence[tuple[int, str, str]] = ()) -> tuple[Table, ...]:
    return tables(scored.answers, scored.segmenters, scored.verifiers, gamma, failed)


def summary(scored: Scored, gamma: float) -> str:
    """Summarise the scores in one or two sentences."""
    answers = scored.answers
    responded = sum(not a.abstained for a in answers)
    text = f"{plural(len(answers), 'answer')}, {responded} of them {'responds' if responded == 1 else 'respond'}. "
    plain, penalised = (_range(scored, g) for g in (0, gamma))
    if not plain:
        return text + "No fact was judged, so there is no score."
    same = "" if plain == penalised else f"; without the length penalty {plain}"
    return f"{text}FActScore {penalised}{same}."


def _range(scored: Scored, gamma: float) -> str:
    """Describe the lowest and the highest score with decomposer and verifier; empty without a score."""
    named = [
        (value, s, v)
        for s in scored.segmenters
        for v in scored.verifiers
        if (value := cell(scored.answers, s, v, gamma).factscore) is not None
    ]
    if not named:
        return ""
    low, high = min(named), max(named)
    if low[0] == high[0]:
        return f"{low[0]:.2f}"
    ends = (f"{value:.2f} ({label(s)}, {label(v)})" for value, s, v in (low, high))
    return f"from {' to '.join(ends)}"


def as_csv(scored: Scored) -> str:
    """Return CSV with one row for each answer, decomposer, verifier and fact."""
    heads = (
        "answer",
        "system",
        "decomposer",
        "verifier",
        "fact",
        "verdict",
        "counts",
        "probability",
        "sentence",
        "url",
    )
    rows: list[Sequence[Cell]] = [heads]
    for number, answer in enumerate(scored.answers, 1):
        for s in scored.segmenters:
            for v in scored.verifiers:
                for j in answer.facts(s, v):
                    text = answer.texts.get(j.fact, "")
                    ends = (j.label, str(j.counts).lower(), j.confidence, j.sentence, j.url)
                    rows.append((number, answer.system, s, v, text, *ends))
    return csv_text(rows)


def as_lines(scored: Scored) -> str:
    """Return the answers as JSON Lines, as in factscore.jsonl."""
    return "".join(json.dumps(as_json(a), ensure_ascii=False) + "\n" for a in scored.answers)
