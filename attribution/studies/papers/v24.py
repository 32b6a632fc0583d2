"""The tables of V24: claims, their worthiness and independence, relations of pairs."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from attribution.claims import worthiness
from attribution.claims.context import add_context, check_independence
from attribution.claims.enrichment import enrich
from attribution.claims.llm_annotation import LlmAnnotator
from attribution.embedders import EMBEDDERS
from attribution.errors import AttributionError, BadInput
from attribution.files import Cell, Row
from attribution.pipeline.claims import segment
from attribution.pipeline.experiment import Fields
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
    for_people,
    left_out,
    percent,
    report_of,
    texts_of,
)
from attribution.studies.results import mean
from attribution.text.parse import parse
from attribution.types import Claim, Judgement, content_id
from attribution.verdicts import leaning
from attribution.verifiers import VERIFIERS
from attribution.verifiers.auto import choose
from attribution.verifiers.pairs import verify_each

GPT35, GPT4 = "GPT-3.5", "GPT-4"
CASE_STUDY = {
    "spaCy_sentences": "spacy",
    "gpt35_factscore": "factscore",
    "segment5_propsegment": "propsegment",
}
CLASSES = ("factual", "not_a_claim", "opinion", "other")
EMBEDDINGS: dict[str, Fields] = {  # what differs from the settings, by row
    "SBert Baseline (Macro)": {},
    "SBert + Recursive CW": {"chunker": "recursive"},
    "Ada 2.0": {"embedder": "openai", "embedding_model": "text-embedding-ada-002"},
    "Angle": {"embedder": "sentence_transformer", "embedding_model": "WhereIsAI/UAE-Large-V1"},
}
MISSING = "missing"  # a claim for which no passage was retrieved
RELATIONS = ("contradicted", "entailed", "no_relation")
LABELLED = '"claims": [{"claim": "…", "independent": true or false, "segmenter": "…"}]'
JudgedPair = dict[str, str]  # relation, claim, passage
PairsByRow = dict[str, list[JudgedPair]]  # of one answer, by the row of the table


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table.

    Raises:
        BadInput: There are no answers, or no labels or project where the table needs them.
    """
    if inputs.project and number == "T2":
        return Computed(properties(inputs))
    if not inputs.rows and not (inputs.project and number == "T4"):
        raise BadInput(f"V24.{number} needs answers: give them with --input")
    return (yield from COMPUTE[number](_Experiment(inputs), number))


class _Experiment:
    """The steps of V24, with its settings."""

    def __init__(self, inputs: TableInputs) -> None:
        self.inputs = inputs
        own = inputs.settings
        values = preset(own).values | {"segmenter": own.segmenter, "sources": own.sources}
        if own.verifier != "auto" or values["verifier"] == "auto":
            values["verifier"] = choose(own).name if own.verifier == "auto" else own.verifier
        self.settings = own.model_copy(update=values)

    def asking(self, model: str) -> LlmAnnotator | None:
        """Return the language model in the place of one of the paper's; None without one."""
        if not self.settings.has_llm:
            return None
        settings = self.inputs.asking(model, self.settings)
        return LlmAnnotator(settings, Store.open(settings.database_url), threading.Event())

    def using(self, segmenter: str, model: str = GPT35) -> Settings:
        """Return settings with a segmenter of the paper or, if it isn't ready, the chosen one."""
        settings = self.inputs.asking(model, self.settings)
        if missing_step(SEGMENTERS[segmenter], settings):
            return settings
        return settings.model_copy(update={"segmenter": segmenter})

    def raw_claims(self, answer: str, settings: Settings) -> list[str]:
        """Return the claims as a system writes them, also empty and repeated ones (V24 4.1)."""
        sentences = [sentence.text.strip() for sentence in parse(answer).sents]
        if settings.segmenter == "spacy":
            return sentences
        segmenter: Any = SEGMENTERS.build(settings.segmenter, settings)
        return list(chain.from_iterable(segmenter.decompose(sentences)))

    def classified(self, row: Row, claims: Sequence[Claim]) -> list[Claim]:
        """Classify claims by check-worthiness, by GPT-3.5 or by rules (V24 4.2)."""
        question, answer = texts_of(row)
        classified = worthiness.classify(add_context(claims, answer), answer)
        annotator = self.asking(GPT35)
        return (
            annotator.annotate("worthiness", question, classified)[0] if annotator else classified
        )

    def factual(self, row: Row, settings: Settings) -> list[Claim]:
        claims = segment(*texts_of(row), settings).claims
        return [claim for claim in self.classified(row, claims) if claim.worthiness == "factual"]

    def tested(self, claims: Sequence[Claim], model: str = GPT4) -> list[Claim]:
        """Test claims for independence, by a language model or by rules (V24 5.1.1)."""
        annotator = self.asking(model)
        tested = check_independence(claims)
        return annotator.annotate("independence", "", tested)[0] if annotator else tested

    def enriched(self, row: Row, claims: Sequence[Claim]) -> list[Claim]:
        """Enrich the dependent claims, and test again whether they are independent (V24 5.3)."""
        dependent = [claim for claim in claims if not claim.independent]
        question, answer = texts_of(row)
        annotator = self.asking(GPT4)
        if annotator:
            made, _ = annotator.annotate("enrichment", question, dependent, answer)
        else:
            made = enrich(question, answer, dependent)
        return self.tested([_bare_claim(claim.enriched) for claim in made if claim.enriched])

    def pairs(self, row: Row, claims: Sequence[Claim], settings: Settings) -> list[JudgedPair]:
        """Return the most probable relation of each claim and each of its passages (V24 4.3)."""
        by_id = {claim.id: _bare_claim(claim.text, claim.id) for claim in claims}
        if not by_id:
            return []
        pairs: list[JudgedPair] = []
        for piece in report_of(row, list(by_id.values()), settings).evidence:
            relation, claim = leaning(piece.probabilities), by_id[piece.claim_id].text
            pairs.append({"relation": relation, "claim": claim, "passage": piece.text})
        paired = {pair["claim"] for pair in pairs}
        alone = [claim.text for claim in by_id.values() if claim.text not in paired]
        return [*pairs, *({"relation": MISSING, "claim": text, "passage": ""} for text in alone)]

    def by_independence(
        self, row: Row, name: str, claims: Sequence[Claim], settings: Settings
    ) -> PairsByRow:
        kinds = {"Independent": True, "Non-Ind.": False}
        found: PairsByRow = {}
        for kind, is_independent in kinds.items():
            own = [claim for claim in claims if bool(claim.independent) is is_independent]
            found[f"{name} {kind}"] = self.pairs(row, own, settings)
        return found


def _bare_claim(text: str, claim_id: str = "") -> Claim:
    own_id = claim_id or content_id(text)
    return Claim(id=own_id, text=text, spans=(), worthiness="factual", coherent=True)


def _method(settings: Settings, *more: str) -> str:
    """Name what makes the figures of a row, with the language model if there is one."""
    return ", ".join((settings.segmenter, settings.openai_model or "rules", *more))


# --- claims ---


def _case_study(experiment: _Experiment, number: str) -> Steps:
    """Compute T1 and T3, or make the claims tasks for people, for T2."""
    named = {name: experiment.using(segmenter) for name, segmenter in CASE_STUDY.items()}
    systems = {name: own for name, own in named.items() if own.segmenter == CASE_STUDY[name]}

    def work(row: Row) -> Fields:
        answer = texts_of(row)[1]
        claims = {name: experiment.raw_claims(answer, own) for name, own in systems.items()}
        classes: dict[str, list[Any]] = {}
        for name, texts in claims.items() if number == "T3" else ():
            unique = [_bare_claim(text) for text in dict.fromkeys(texts) if text]
            classes[name] = [claim.worthiness for claim in experiment.classified(row, unique)]
            classes[name] += ["not_a_claim"] * ("" in texts)
        labelled: Any = row.fields.get("claims") or ()
        factual = [c["claim"] for c in labelled if c.get("worthiness") == "factual"]
        found = experiment.classified(row, [_bare_claim(text) for text in factual])
        agreed = [claim.worthiness == "factual" for claim in found]
        return {"claims": claims, "classes": classes, "agreed": agreed, "texts": texts_of(row)}

    answers = yield from experiment.inputs.each(number, work)
    if number == "T2":
        tasks = [task for answer in answers for task in _property_tasks(answer)]
        return for_people([], tasks, "property")
    rows: list[ComputedRow] = []
    for name, settings in systems.items():
        classes = Counter(chain.from_iterable(a["classes"].get(name, ()) for a in answers))
        cells: list[Cell] = [classes.total(), *(classes[kind] for kind in CLASSES)]
        if number == "T1":
            claims = [answer["claims"][name] for answer in answers]
            sentences = sum(len(answer["claims"]["spaCy_sentences"]) for answer in answers)
            lengths = list(map(len, chain.from_iterable(claims)))
            unique = sum(len(set(of_answer)) for of_answer in claims)
            cells = [len(lengths), unique, mean(lengths), len(lengths) / max(1, sentences)]
        rows.append(ComputedRow(name, _method(settings), cells))
    agreed = list(chain.from_iterable(answer["agreed"] for answer in answers))
    note = f"of the claims that people call factual, found so: {sum(agreed)} of {len(agreed)}"
    return Computed(rows, (f"{note} (V24 4.2: 79 of 85)",) if agreed else ())


def _property_tasks(answer: Mapping[str, Any]) -> list[Fields]:
    """Return a task for every claim and property (V24 4.1)."""
    question, text = answer["texts"]
    tasks: list[Fields] = []
    for system, claims in answer["claims"].items():
        listed = "\n".join(f"{number}. {claim}" for number, claim in enumerate(claims, 1))
        for number, claim in enumerate(claims, 1):
            shown = f"{text}\n\nThis is claim {number} of its claims:\n{listed}"
            task: Fields = {
                "answer": claim or "(empty)",
                "source": text,
                "context": [
                    {"speaker": "user", "text": question or "–"},
                    {"speaker": "system", "text": shown},
                ],
                "system": system,
                "item": f"{content_id(text)} {number}",
                "unit": "claim",
            }
            tasks += [{**task, "dataset": name} for name in PROPERTIES]
    return tasks


def _detection(experiment: _Experiment, number: str) -> Steps:
    """Measure the detection of claims that are not independent, by people's labels."""
    from sklearn.metrics import precision_recall_fscore_support

    models = (GPT35, GPT4)

    def work(row: Row) -> list[Fields]:
        labelled: Any = row.fields.get("claims")
        try:
            claims = [_bare_claim(one["claim"]) for one in labelled]
            made = [{"row": one["segmenter"], "label": not one["independent"]} for one in labelled]
        except (TypeError, KeyError, ValueError):
            raise BadInput(f"the row has no labelled claims; expected {LABELLED}") from None
        for model in models:
            for one, claim in zip(made, experiment.tested(claims, model), strict=True):
                one[model] = not claim.independent
        return made

    claims = list(chain.from_iterable((yield from experiment.inputs.each(number, work))))
    rows: list[ComputedRow] = []
    labels = ["Overall", *dict.fromkeys(claim["row"] for claim in claims)]
    for label in labels if claims else ():
        of_row = [claim for claim in claims if label in ("Overall", claim["row"])]
        known = [claim["label"] for claim in of_row]
        cells: list[Cell] = []
        for model in models:
            found = [claim[model] for claim in of_row]
            scores = precision_recall_fscore_support(
                known, found, average="binary", zero_division=0.0
            )
            cells += map(float, scores[:3])
        method = ", ".join(experiment.inputs.asking(model).openai_model for model in models)
        rows.append(ComputedRow(label, method if experiment.settings.has_llm else "rules", cells))
    return Computed(rows)


# --- relations of claims and passages ---


def _by_verifier(experiment: _Experiment, number: str) -> Steps:
    """Let DeBERTa and GPT-3.5 judge the same pairs; an unusable reply is a pair too."""
    inputs, settings = experiment.inputs, experiment.using("factscore")
    question_answering = VERIFIERS.build("llm-pair", settings) if settings.has_llm else None

    def work(row: Row) -> PairsByRow:
        claims = experiment.factual(row, settings)
        made: PairsByRow = {}
        for size in (256, 512):
            own = settings.model_copy(update={"chunk_size": size})
            pairs = [p for p in experiment.pairs(row, claims, own) if p["relation"] != MISSING]
            made[f"DeBERTa - {size}"] = pairs
            if question_answering:
                asked = [(p["claim"], p["passage"], texts_of(row)[0]) for p in pairs]
                judged = verify_each(question_answering, asked)
                replies = [
                    leaning(j.probabilities) if isinstance(j, Judgement) else "" for j in judged
                ]
                made[f"GPT3.5 - {size}"] = [{"relation": reply} for reply in replies]
        return made

    merged = _merged((yield from inputs.each(number, work)))
    counted = {label: _relations(pairs) for label, pairs in merged.items()}
    people = relations(inputs) if inputs.project else {}
    rows: list[ComputedRow] = []
    for label, counts in (counted | people).items():
        verifier = settings.verifier if label.startswith("DeBERTa") else "llm-pair"
        method = "people" if label in people else _method(settings, verifier)
        share = percent(counts["no_relation"], counts.total())
        rows.append(ComputedRow(label, method, [*(counts[name] for name in RELATIONS), share]))
    tasks: list[Fields] = []
    for size in (256, 512):
        for pair in merged.get(f"DeBERTa - {size}", []):
            task: Fields = {"answer": pair["claim"], "source": pair["passage"], "unit": "claim"}
            tasks.append({**task, "system": f"Human - {size}"})
    return Computed(rows) if people else for_people(rows, tasks, "relation")


def _by_independence(experiment: _Experiment, number: str) -> Steps:
    """Compare independent and dependent claims, enriched ones (T7) or direct ones (T8)."""
    systems = {"Original": experiment.using("factscore")}
    columns: tuple[str, ...] = RELATIONS
    if number == "T8":
        columns = ("contradicted", "entailed", MISSING, "no_relation")
        systems["GPT3.5 Direct -"] = experiment.using("direct")
        systems["GPT4 Direct -"] = experiment.using("direct", GPT4)

    def work(row: Row) -> PairsByRow:
        made: PairsByRow = {}
        for name, settings in systems.items():
            claims = experiment.tested(experiment.factual(row, settings))
            made |= experiment.by_independence(row, name, claims, settings)
            if number == "T7":
                enriched = experiment.enriched(row, claims)
                made |= experiment.by_independence(row, "Enriched", enriched, settings)
        return made

    merged = _merged((yield from experiment.inputs.each(number, work)))
    rows: list[ComputedRow] = []
    for label, pairs in merged.items():
        settings = systems.get(label.rpartition(" ")[0], systems["Original"])
        counts = _relations(pairs)
        total = sum(counts[column] for column in columns)
        cells = [percent(counts[column], total) for column in columns]
        rows.append(ComputedRow(label, _method(settings, settings.verifier), cells))
    if number == "T8" or not rows:
        return Computed(rows)
    enriched = merged["Enriched Independent"] + merged["Enriched Non-Ind."]
    dependent = merged["Original Non-Ind."]
    groups = {"independent": merged["Original Independent"], "dependent": dependent}
    groups["enriched"] = enriched
    notes = [_note(name, pairs) for name, pairs in groups.items() if pairs]
    return Computed(rows, tuple(notes))


def _note(name: str, pairs: Sequence[JudgedPair]) -> str:
    """Return the mean length of claims (V24 5.1.1), and the share without a relation (V24 5.3)."""
    length = mean([len(claim) for claim in {pair["claim"] for pair in pairs}]) or 0
    unrelated = sum(pair["relation"] in ("no_relation", MISSING) for pair in pairs)
    share = percent(unrelated, len(pairs)) or 0
    return f"{name} claims: {length:.1f} characters, {share:.1f} % of the pairs without a relation"


def _by_embedder(experiment: _Experiment, number: str) -> Steps:
    """Return the means over the answers of the shares of their pairs; missing ones count."""
    direct = experiment.using("direct", GPT4)
    series: dict[str, Settings] = {}
    steps: dict[str, str] = {}
    for label, update in EMBEDDINGS.items():
        settings = direct.model_copy(update=update)
        try:
            EMBEDDERS.build(settings.embedder, settings).embed(["claim"])
            series[label] = settings
        except AttributionError as error:  # such as an endpoint that has chat models alone
            steps[label] = str(error)

    def work(row: Row) -> PairsByRow:
        claims = experiment.factual(row, direct)
        return {label: experiment.pairs(row, claims, own) for label, own in series.items()}

    answers = yield from experiment.inputs.each(number, work)
    rows: list[ComputedRow] = []
    for label, settings in series.items():
        counted = [_relations(answer[label]) for answer in answers]
        cells = [mean([percent(c[name], c.total()) for c in counted]) for name in RELATIONS]
        used = settings.embedding_model or settings.embedder
        rows.append(ComputedRow(label, _method(settings, used, settings.verifier), cells))
    return Computed(rows, left_out(steps))


def _merged(answers: Sequence[PairsByRow]) -> PairsByRow:
    merged: PairsByRow = {}
    for answer in answers:
        for label, pairs in answer.items():
            merged.setdefault(label, []).extend(pairs)
    return merged


def _relations(pairs: Sequence[JudgedPair]) -> Counter[str]:
    return Counter(pair["relation"] for pair in pairs)


COMPUTE: Mapping[str, Callable[[_Experiment, str], Steps]] = {
    "T1": _case_study,
    "T2": _case_study,
    "T3": _case_study,
    "T4": _by_verifier,
    "T5": _detection,
    "T7": _by_independence,
    "T8": _by_independence,
    "T9": _by_embedder,
}
