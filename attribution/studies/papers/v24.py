"""The tables of V24: claims, their worthiness and independence, relations of pairs."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attribution.claims import worthiness
from attribution.claims.context import add_context, check_independence
from attribution.claims.enrichment import enrich
from attribution.claims.llm_annotation import LlmAnnotator
from attribution.embedders import EMBEDDERS
from attribution.errors import AttributionError, BadInput
from attribution.files import Cell, Row
from attribution.pipeline.claims import segment
from attribution.pipeline.experiment import Fields, RowDone
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.tasks import PROPERTIES
from attribution.studies.papers.presets import missing_step, preset
from attribution.studies.papers.r23 import properties, relations
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    available,
    for_people,
    left_out,
    percent,
    report_of,
    texts_of,
)
from attribution.studies.results import mean
from attribution.types import UNCHECKED, Claim, content_id
from attribution.verdicts import leaning
from attribution.verifiers import VERIFIERS

GPT35, GPT4 = 0, 1  # places of the language models
CASE_STUDY = {
    "spaCy_sentences": "spacy",
    "gpt35_factscore": "factscore",
    "segment5_propsegment": "propsegment",
}
CLASSES = ("factual", "not_a_claim", "opinion", "other")
CHUNK_SIZES = (256, 512)
EMBEDDINGS = (  # row, embedder or the one of the settings, its model
    ("SBert Baseline (Macro)", "", ""),
    ("SBert + Recursive CW", "", ""),
    ("Ada 2.0", "openai", "text-embedding-ada-002"),
    ("Angle", "sentence_transformer", "WhereIsAI/UAE-Large-V1"),
)
CHOSEN = ("segmenter", "sources", "verifier")  # settings that the table or the user chooses
MISSING = "missing"  # a claim for which no passage was retrieved
RELATIONS = ("contradicted", "entailed", "no_relation")
LABELLED = '"claims": [{"claim": "…", "independent": true or false, "segmenter": "…"}]'


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table.

    Raises:
        BadInput: There are no answers, or no labels or project where the table needs them.
    """
    if inputs.project and number == "T2":
        return Computed(properties(inputs))
    if not inputs.rows and not (inputs.project and number == "T4"):
        raise BadInput(f"V24.{number} needs answers: give them with --input")
    return (yield from COMPUTE[number](_Experiment(inputs)))


class _Experiment:
    """Answers with the settings of V24."""

    def __init__(self, inputs: TableInputs) -> None:
        self.inputs = inputs
        values = preset(inputs.settings).values
        update = {name: value for name, value in values.items() if name not in CHOSEN}
        update["verifier"] = inputs.verifier("deberta")
        self.settings = inputs.settings.model_copy(update=update)
        self.annotators: list[LlmAnnotator] = []
        if self.settings.has_llm:
            store = Store.open(self.settings.database_url)
            for place in (GPT35, GPT4):
                asking = inputs.with_model(self.settings, place)
                self.annotators.append(LlmAnnotator(asking, store, threading.Event()))

    def using(self, segmenter: str, place: int = GPT35) -> Settings:
        """Return settings with a segmenter of the paper or, if it isn't ready, the chosen one."""
        settings = self.inputs.with_model(self.settings, place)
        name = available(SEGMENTERS, segmenter, self.inputs.settings.segmenter, settings)
        return settings.model_copy(update={"segmenter": name})

    def case_study(self) -> dict[str, Settings]:
        """Return the settings of those segmenters of the case study that are ready."""
        systems = {name: self.using(segmenter) for name, segmenter in CASE_STUDY.items()}
        return {name: s for name, s in systems.items() if s.segmenter == CASE_STUDY[name]}

    def claims(self, row: Row, settings: Settings) -> list[Claim]:
        return list(segment(*texts_of(row), settings).claims)

    def classified(self, row: Row, claims: Sequence[Claim]) -> list[Claim]:
        """Classify claims by check-worthiness, by GPT-3.5 or by rules (V24 4.2)."""
        question, answer = texts_of(row)
        classified = worthiness.classify(add_context(claims, answer), answer)
        for annotator in self.annotators[:1]:
            classified, _ = annotator.worthiness(question, classified)
        return classified

    def factual(self, row: Row, settings: Settings) -> list[Claim]:
        classified = self.classified(row, self.claims(row, settings))
        return [claim for claim in classified if claim.worthiness == "factual"]

    def tested(self, claims: Sequence[Claim], place: int = GPT4) -> list[Claim]:
        """Test claims for independence, by a language model or by rules (V24 5.1.1)."""
        tested = check_independence(claims)
        if self.annotators:
            tested, failures = self.annotators[place].independence("", tested)
            if failures:
                raise BadInput(failures[0].message)
        return tested

    def enriched(self, row: Row, claims: Sequence[Claim]) -> list[Claim]:
        """Enrich the dependent claims, and test again whether they are independent (V24 5.3)."""
        question, answer = texts_of(row)
        dependent = [claim for claim in claims if not claim.independent]
        if self.annotators:
            made, _ = self.annotators[GPT4].enrichment(question, answer, dependent)
        else:
            made, _ = enrich(question, answer, dependent)
        return self.tested([_bare_claim(claim.enriched) for claim in made if claim.enriched])


def _bare_claim(text: str) -> Claim:
    return Claim(id=content_id(text), text=text, spans=(), worthiness="factual")


# --- T1, T3: claims of segmenters ---


def _segmentation(experiment: _Experiment) -> Steps:
    """Count claims, unique claims, characters a claim and claims a sentence."""
    answers = yield from _claims_of_systems(experiment, "T1", with_worthiness=False)
    rows: list[ComputedRow] = []
    for name, settings in experiment.case_study().items():
        claims = [claim for answer in answers for claim in answer[name]]
        count = sum(claim["times"] for claim in claims)
        characters = sum(claim["length"] * claim["times"] for claim in claims)
        sentences = sum(answer["sentences"] for answer in answers)
        cells: list[Cell] = [count, len(claims), None, None]
        if count and sentences:
            cells[2:] = [characters / count, count / sentences]
        rows.append(ComputedRow(name, settings.segmenter, cells))
    return Computed(rows)


def _worthiness(experiment: _Experiment) -> Steps:
    answers = yield from _claims_of_systems(experiment, "T3", with_worthiness=True)
    rows: list[ComputedRow] = []
    for name, settings in experiment.case_study().items():
        counts = Counter(claim["worthiness"] for answer in answers for claim in answer[name])
        cells = [counts.total(), *(counts[kind] for kind in CLASSES)]
        method = f"{settings.segmenter}, worthiness by {settings.worthiness}"
        rows.append(ComputedRow(name, method, cells))
    return Computed(rows)


def _claims_of_systems(
    experiment: _Experiment, key: str, with_worthiness: bool
) -> Generator[RowDone, None, list[Any]]:
    systems = experiment.case_study()

    def work(row: Row) -> dict[str, Any]:
        sentences = experiment.claims(row, systems["spaCy_sentences"])
        made: dict[str, Any] = {"sentences": sum(claim.times for claim in sentences)}
        for name, settings in systems.items():
            claims = experiment.claims(row, settings)
            if with_worthiness:
                claims = experiment.classified(row, claims)
            made[name] = [
                {"length": len(claim.text), "times": claim.times, "worthiness": claim.worthiness}
                for claim in claims
            ]
        return made

    return (yield from experiment.inputs.each(key, work))


# --- T2: properties of claims, by people ---


def _property_tasks(experiment: _Experiment) -> Steps:
    """Make the claims of each answer tasks for people, one for every property."""
    systems = experiment.case_study()

    def work(row: Row) -> list[Fields]:
        tasks: list[Fields] = []
        for name, settings in systems.items():
            claims = experiment.claims(row, settings)
            texts = [claim.text for claim in claims for _ in range(claim.times)]
            tasks += _tasks_of_claims(row, name, texts)
        return tasks

    answers = yield from experiment.inputs.each("T2", work)
    tasks = [task for answer in answers for task in answer]
    return for_people([], tasks, "property")


def _tasks_of_claims(row: Row, system: str, claims: Sequence[str]) -> list[Fields]:
    question, answer = texts_of(row)
    numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(claims, 1))
    tasks: list[Fields] = []
    for number, text in enumerate(claims, 1):
        for name in PROPERTIES:
            shown = answer
            if name == "repetition":
                shown = f"The claims of this answer, of which this is number {number}:\n{numbered}"
            turns = [("user", question), ("system", shown)]
            task: Fields = {
                "answer": text,
                "source": answer,
                "context": [{"speaker": who, "text": said} for who, said in turns if said],
                "system": system,
                "dataset": name,
                "item": f"{content_id(answer)} {number}",
                "unit": "claim",
            }
            tasks.append(task)
    return tasks


# --- T4, T7, T8, T9: relations of claims and passages ---


@dataclass(frozen=True)
class _Series:
    """One row of a table of relations.

    Attributes:
        method: What makes the figures.
        settings: By which the claims are checked.
    """

    label: str
    method: str
    settings: Settings

    @classmethod
    def of(cls, label: str, settings: Settings, *more: str) -> _Series:
        return cls(label, ", ".join((settings.segmenter, *more, settings.verifier)), settings)


Strata = Callable[[Row], Mapping[str, Sequence[Claim]]]  # the claims of an answer by row label
JudgedPair = dict[str, str]  # relation, claim, passage
Answers = list[dict[str, list[JudgedPair]]]  # the pairs of each answer by row label


def related(row: Row, claims: Sequence[Claim], settings: Settings) -> list[JudgedPair]:
    """Return the most probable relation of each claim and passage (V24 4.3)."""
    checked = [
        claim.model_copy(update={"worthiness": "factual", "coherent": True, "enriched": None})
        for claim in claims
    ]
    if not checked:
        return []
    report = report_of(row, checked, settings)
    texts = {claim.id: claim.text for claim in checked}
    pairs: list[JudgedPair] = []
    for piece in report.evidence:
        relation = leaning(piece.probabilities)
        pairs.append({"relation": relation, "claim": texts[piece.claim_id], "passage": piece.text})
    paired = {piece.claim_id for piece in report.evidence}
    for verdict in report.verdicts:
        if verdict.label not in UNCHECKED and verdict.claim_id not in paired:
            pairs.append({"relation": MISSING, "claim": texts[verdict.claim_id], "passage": ""})
    return pairs


def _pairs(
    experiment: _Experiment, key: str, strata: Strata, series: Sequence[_Series]
) -> Generator[RowDone, None, Answers]:
    def work(row: Row) -> dict[str, list[JudgedPair]]:
        claims = strata(row)
        return {one.label: related(row, claims[one.label], one.settings) for one in series}

    return (yield from experiment.inputs.each(key, work))


def _by_verifier(experiment: _Experiment) -> Steps:
    inputs = experiment.inputs
    settings = experiment.using("factscore")
    judges = {"DeBERTa": settings.verifier}
    if not missing_step(VERIFIERS["llm-pair"], settings):
        judges["GPT3.5"] = "llm-pair"
    series: list[_Series] = []
    for judge, verifier in judges.items():
        for size in CHUNK_SIZES:
            own = settings.model_copy(update={"verifier": verifier, "chunk_size": size})
            series.append(_Series.of(f"{judge} - {size}", own))

    def strata(row: Row) -> dict[str, list[Claim]]:
        return dict.fromkeys((one.label for one in series), experiment.factual(row, settings))

    people = [
        ComputedRow(name, "people", _counts(counts, counts.total()))
        for name, counts in (relations(inputs) if inputs.project else {}).items()
    ]
    if not inputs.rows:
        return Computed(people)
    answers = yield from _pairs(experiment, "T4", strata, series)
    counted = {one.label: _relations(answers, one.label) for one in series}
    # A pair that a verifier could not judge counts in the denominator, as in the paper.
    pairs = max(counts.total() for counts in counted.values())
    rows = [
        ComputedRow(one.label, one.method, _counts(counted[one.label], pairs)) for one in series
    ]
    if people:
        return Computed([*rows, *people])
    return for_people(rows, _pair_tasks(answers), "relation")


def _counts(counts: Counter[str], pairs: int) -> list[Cell]:
    unrelated = counts["no_relation"]
    return [counts["contradicted"], counts["entailed"], unrelated, percent(unrelated, pairs)]


def _pair_tasks(answers: Answers) -> list[Fields]:
    tasks: list[Fields] = []
    for answer in answers:
        for size in CHUNK_SIZES:
            for pair in answer[f"DeBERTa - {size}"]:
                if pair["relation"] != MISSING:
                    task: Fields = {"answer": pair["claim"], "source": pair["passage"]}
                    tasks.append({**task, "system": f"Human - {size}", "unit": "claim"})
    return tasks


def _by_enrichment(experiment: _Experiment) -> Steps:
    settings = experiment.using("factscore")

    def strata(row: Row) -> dict[str, list[Claim]]:
        claims = experiment.tested(experiment.factual(row, settings))
        again = experiment.enriched(row, claims)
        return _by_independence("Original", claims) | _by_independence("Enriched", again)

    systems = {"Original": settings, "Enriched": settings}
    return (yield from _shares(experiment, "T7", strata, systems, RELATIONS))


def _by_directness(experiment: _Experiment) -> Steps:
    systems = {
        "Original": experiment.using("factscore"),
        "GPT3.5 Direct -": experiment.using("direct"),
        "GPT4 Direct -": experiment.using("direct", GPT4),
    }

    def strata(row: Row) -> dict[str, list[Claim]]:
        claims: dict[str, list[Claim]] = {}
        for name, settings in systems.items():
            tested = experiment.tested(experiment.factual(row, settings))
            claims |= _by_independence(name, tested)
        return claims

    columns = ("contradicted", "entailed", MISSING, "no_relation")
    return (yield from _shares(experiment, "T8", strata, systems, columns))


def _by_independence(name: str, claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    return {
        f"{name} Independent": [claim for claim in claims if claim.independent],
        f"{name} Non-Ind.": [claim for claim in claims if not claim.independent],
    }


def _shares(
    experiment: _Experiment,
    key: str,
    strata: Strata,
    systems: Mapping[str, Settings],
    columns: Sequence[str],
) -> Steps:
    """Return the shares of the pairs of each row, of those that have a column."""
    series = [
        _Series.of(f"{name} {kind}", settings)
        for name, settings in systems.items()
        for kind in ("Independent", "Non-Ind.")
    ]
    answers = yield from _pairs(experiment, key, strata, series)
    rows: list[ComputedRow] = []
    for one in series:
        counts = _relations(answers, one.label)
        total = sum(counts[column] for column in columns)
        cells = [percent(counts[column], total) for column in columns]
        rows.append(ComputedRow(one.label, one.method, cells))
    return Computed(rows)


def _relations(answers: Answers, label: str) -> Counter[str]:
    return Counter(pair["relation"] for answer in answers for pair in answer[label])


def _by_embedder(experiment: _Experiment) -> Steps:
    direct = experiment.using("direct", GPT4)
    series: list[_Series] = []
    steps: dict[str, str] = {}
    for label, embedder, model in EMBEDDINGS:
        update = {"embedder": embedder or direct.embedder, "embedding_model": model}
        if "Recursive" in label:
            update["chunker"] = "recursive"
        settings = direct.model_copy(update=update)
        try:
            EMBEDDERS.build(settings.embedder, settings).embed(["claim"])
        except AttributionError as error:  # such as an endpoint that has chat models alone
            steps[label] = str(error)
        else:
            series.append(_Series.of(label, settings, model or settings.embedder))

    def strata(row: Row) -> dict[str, list[Claim]]:
        return dict.fromkeys((one.label for one in series), experiment.factual(row, direct))

    answers = yield from _pairs(experiment, "T9", strata, series)
    return Computed([_macro_shares(answers, one) for one in series], left_out(steps))


def _macro_shares(answers: Answers, series: _Series) -> ComputedRow:
    """Return the means over the answers of the shares of their pairs; missing ones count."""
    shares: list[list[float | None]] = []
    for answer in answers:
        relations = [pair["relation"] for pair in answer[series.label]]
        if relations:
            counts = map(relations.count, RELATIONS)
            shares.append([percent(count, len(relations)) for count in counts])
    cells = [mean([share[column] for share in shares]) for column in range(3)]
    return ComputedRow(series.label, series.method, cells)


# --- T5: detection of claims that are not independent ---


def _detection(experiment: _Experiment) -> Steps:
    judges = {"GPT3.5": GPT35, "GPT4": GPT4} if experiment.annotators else {"rules": GPT35}

    def work(row: Row) -> list[dict[str, Any]]:
        claims = _labelled_claims(row)
        bare = [_bare_claim(claim["claim"]) for claim in claims]
        for judge, place in judges.items():
            for claim, tested in zip(claims, experiment.tested(bare, place), strict=True):
                claim[judge] = bool(tested.independent)
        return claims

    answers = yield from experiment.inputs.each("T5", work)
    groups: dict[str, list[dict[str, Any]]] = {"Overall": []}
    for claim in (claim for answer in answers for claim in answer):
        groups["Overall"].append(claim)
        groups.setdefault(str(claim.get("segmenter")), []).append(claim)
    rows: list[ComputedRow] = []
    for label, claims in groups.items():
        cells = [cell for judge in judges for cell in _scores(claims, judge)]
        cells += [None] * (6 - len(cells))
        rows.append(ComputedRow(label, ", ".join(judges), cells))
    return Computed(rows)


def _labelled_claims(row: Row) -> list[dict[str, Any]]:
    claims = row.fields.get("claims")
    usable = isinstance(claims, list) and all(
        isinstance(claim, dict)
        and isinstance(claim.get("independent"), bool)
        and str(claim.get("claim") or "").strip()
        for claim in claims
    )
    if not usable or not claims:
        raise BadInput(f"the row has no labelled claims; expected {LABELLED}")
    return [dict(claim) for claim in claims]


def _scores(claims: Sequence[Mapping[str, Any]], judge: str) -> list[Cell]:
    """Return precision, recall and F1 of the claims that are not independent."""
    labelled = sum(not claim["independent"] for claim in claims)
    flagged = sum(not claim[judge] for claim in claims)
    hits = sum(not claim["independent"] and not claim[judge] for claim in claims)
    if not labelled or not flagged:
        return [None] * 3
    return [hits / flagged, hits / labelled, 2 * hits / (flagged + labelled)]


COMPUTE: Mapping[str, Callable[[_Experiment], Steps]] = {
    "T1": _segmentation,
    "T2": _property_tasks,
    "T3": _worthiness,
    "T4": _by_verifier,
    "T5": _detection,
    "T7": _by_enrichment,
    "T8": _by_directness,
    "T9": _by_embedder,
}
