"""Scores as tables, in a sentence, and as files. Imports no streamlit."""

from __future__ import annotations

import json
from collections.abc import Sequence

from attribution.evaluation.factscore.experiment import as_json, cell, tables
from attribution.evaluation.factscore.saved import Scored
from attribution.evaluation.tables import Cell, Table, csv_text
from pages.ui.factscore.words import label
from pages.ui.html.render import plural


def all_tables(scored: Scored, gamma: float, failed: Sequence[tuple[int, str, str]] = ()) -> tuple[Table, ...]:
    return tables(scored.answers, scored.segmenters, scored.verifiers, gamma, failed)


def summary(scored: Scored, gamma: float) -> str:
    """What the scores show, in one sentence or two."""
    answers = scored.answers
    responded = sum(not a.abstained for a in answers)
    text = f"{plural(len(answers), 'answer')}, {responded} of them {'responds' if responded == 1 else 'respond'}. "
    plain, penalised = (_range(scored, g) for g in (0, gamma))
    if not plain:
        return text + "No fact was judged, so there is no score."
    same = "" if plain == penalised else f"; without the length penalty {plain}"
    return f"{text}FActScore {penalised}{same}."


def _range(scored: Scored, gamma: float) -> str:
    """The lowest and the highest score, and what gives them; empty without a score."""
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
    """One row for each answer, decomposer, verifier and fact."""
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
    """The answers as JSON Lines, as in factscore.jsonl."""
    return "".join(json.dumps(as_json(a), ensure_ascii=False) + "\n" for a in scored.answers)
