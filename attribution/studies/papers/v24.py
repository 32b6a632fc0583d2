"""The tables of V24: claims, their worthiness and independence, relations of pairs."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from attribution.studies.annotation.tasks import FORMS, PROPERTIES, Form
from attribution.studies.papers import missing_step, paper, preset
from attribution.studies.papers.r23 import properties, relations
from attribution.studies.papers.reproduce import (
    TASKS,
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
    named_verifier,
    percent,
    texts_of,
)
from attribution.studies.results import mean
from attribution.text.parse import parse
from attribution.types import Claim, Evidence, Judgement, content_id
from attribution.verdicts import leaning
from attribution.verifiers import VERIFIERS
from attribution.verifiers.pairs import verify_each

GPT35, GPT4 = "GPT-3.5", "GPT-4"
MISSING = "missing"  # the relation of a claim for which no passage was retrieved
RELATIONS: tuple[str, ...] = ("contradicted", "entailed", "no_relation")
CLASSES = ("factual", "not_a_claim", "opinion", "other")
KINDS = {"Independent": True, "Non-Ind.": False}
RAW = ("T1", "T2", "T3", "F3")  # of claims as a system writes them
LABELLED = '"claims": [{"claim": "…", "independent": true or false, "segmenter": "…"}]'


Checked = dict[str, Any]  # a claim: its text, is it independent, and its pairs
Made = Mapping[str, Sequence[Any]]  # by row of the table, what was made of each answer


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without the project that it names."""
    if inputs.project and number == "T2":
        return Computed(properties(inputs))
    experiment = _Experiment(number, inputs)
    if number == "T5":
        return (yield from _detection(experiment))
    make = experiment.raw_claims if number in RAW else experiment.checked

    def work(row: Row) -> Fields:
        return {label: make(row, label) for label in experiment.series}

    made = yield from inputs.each(number, work)
    return SUMMARIES[number](experiment, made)


class _Experiment:
    """The steps of V24 with its settings, by the rows of a table.

    A segmenter that isn't ready is replaced by the chosen one; of raw claims, the row is blank.
    """

    def __init__(self, number: str, inputs: TableInputs) -> None:
        self.number, self.inputs = number, inputs
        own = inputs.settings
        values = preset(own).values | {"segmenter": own.segmenter, "sources": own.sources}
        if own.verifier != "auto":
            values["verifier"] = own.verifier
        self.settings = named_verifier(own.model_copy(update=values))
        self.series: dict[str, Settings] = {}
        self.missing: dict[str, str] = {}
        self.table = paper("v24").tables[number]
        for label, series in self.table.series.items():
            settings = self.asking(series.model).model_copy(update=series.changes)
            step = missing_step(SEGMENTERS[series.segmenter], settings)
            if not step:
                settings = settings.model_copy(update={"segmenter": series.segmenter})
            elif number in RAW:
                self.missing[label] = step
                continue
            try:
                if number == "T9":
                    EMBEDDERS.build(settings.embedder, settings).embed(["claim"])
                self.series[label] = settings
            except AttributionError as error:  # such as an endpoint that has chat models alone
                self.missing[label] = str(error)

    def asking(self, model: str) -> Settings:
        return self.inputs.asking(model, self.settings)

    def row(self, label: str, series: str, cells: Sequence[Cell], *more: str) -> ComputedRow:
        """Name what makes the figures of a row, with the language model if there is one."""
        settings = self.series[series]
        names = (settings.segmenter, settings.openai_model or "rules", *more)
        return ComputedRow(label, ", ".join(names), cells)

    def annotated(
        self, task: str, row: Row, claims: Sequence[Claim], model: str = GPT4
    ) -> list[Claim]:
        """Let a language model annotate claims; without one, the rules do (V24 4.2, 5.1.1)."""
        question, answer = texts_of(row)
        by_rules = list(claims)
        if task == "worthiness":
            by_rules = worthiness.classify(add_context(claims, answer), answer)
        elif task == "independence":
            question, by_rules = "", check_independence(claims)
        elif not self.settings.has_llm:
            by_rules = enrich(question, answer, claims)
        if not self.settings.has_llm:
            return by_rules
        settings = self.asking(model)
        annotator = LlmAnnotator(settings, Store.open(settings.database_url), threading.Event())
        return annotator.annotate(task, question, by_rules, answer)[0]

    def raw_claims(self, row: Row, label: str) -> Fields:
        """Return claims as a system writes them, also empty and repeated ones (V24 4.1).

        Of T3 and F3, the classes of the unique ones are returned too.
        """
        question, answer = texts_of(row)
        settings = self.series[label]
        segmenter: Any = SEGMENTERS.build(settings.segmenter, settings)
        claims = [sentence.text.strip() for sentence in parse(answer).sents]
        if settings.segmenter == "direct":
            claims = [claim.text for claim in segmenter.segment(question, answer).claims]
        elif settings.segmenter != "spacy":
            claims = list(chain.from_iterable(segmenter.decompose(claims)))
        classes: list[str | None] = []
        if self.number in ("T3", "F3"):
            unique = [_bare_claim(text) for text in dict.fromkeys(claims) if text]
            classified = self.annotated("worthiness", row, unique, GPT35)
            classes = [*(c.worthiness for c in classified), *["not_a_claim"] * ("" in claims)]
        return {"texts": (question, answer), "claims": claims, "classes": classes}

    def checked(self, row: Row, label: str) -> list[Checked]:
        """Return the factual claims with the most probable relation to each of their passages.

        Of enriched ones, only those that were dependent, tested again; those that could not be
        enriched stay (V24 5.1.1, 5.3). Of F2, no claim is compared with passages.
        """
        settings, enricher = self.series[label], self.table.series[label].enricher
        claims = self.annotated("worthiness", row, segment(*texts_of(row), settings).claims, GPT35)
        factual = [claim for claim in claims if claim.worthiness == "factual"]
        claims = self.annotated("independence", row, factual)
        if enricher:
            dependent = [claim for claim in claims if not claim.independent]
            enriched = self.annotated("enrichment", row, dependent, enricher)
            bare = [_bare_claim(claim.enriched or claim.text) for claim in enriched]
            claims = self.annotated("independence", row, bare)
        pairs: dict[str, list[Fields]] = {claim.id: [] for claim in claims}
        if claims and self.number != "F2":
            claims = list({claim.id: claim for claim in claims}.values())
            bare = [_bare_claim(claim.text, claim.id) for claim in claims]
            evidence = self.inputs.check(row, bare, settings).evidence
            for piece, reply in zip(evidence, self._replies(row, bare, evidence), strict=True):
                relation = leaning(piece.probabilities)
                pair: Fields = {"relation": relation, "passage": piece.text, "reply": reply}
                pairs[piece.claim_id].append(pair)
        return [
            {"text": claim.text, "independent": bool(claim.independent), "pairs": pairs[claim.id]}
            for claim in claims
        ]

    def _replies(
        self, row: Row, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[str]:
        """Return GPT-3.5's relation of each pair, of T4 alone; an unusable reply is empty."""
        if self.number != "T4" or not self.settings.has_llm:
            return [""] * len(evidence)
        texts = {claim.id: claim.text for claim in claims}
        pairs = [(texts[piece.claim_id], piece.text, texts_of(row)[0]) for piece in evidence]
        judged = verify_each(VERIFIERS.build("llm-pair", self.asking(GPT35)), pairs)
        return [leaning(j.probabilities) if isinstance(j, Judgement) else "" for j in judged]


def _bare_claim(text: str, claim_id: str = "") -> Claim:
    own_id = claim_id or content_id(text)
    return Claim(id=own_id, text=text, spans=(), worthiness="factual", coherent=True)


def _relations(claims: Sequence[Checked], by: str = "relation") -> Counter[str]:
    """Count the relations of pairs, and claims without a passage."""
    relations = Counter(pair[by] for claim in claims for pair in claim["pairs"])
    relations[MISSING] = sum(not claim["pairs"] for claim in claims)
    return relations


def _for_people(
    rows: Sequence[ComputedRow], notes: Sequence[str], tasks: Sequence[Fields], form: Form
) -> Computed:
    note = f"{TASKS} has {len(tasks)} tasks for people: import them into a project of the form "
    return Computed(rows, [f"{note}“{FORMS[form]}”, then name it with --project", *notes], tasks)


# --- summaries of claims ---


def _counts(experiment: _Experiment, made: Made) -> Computed:
    """Summarise T1."""
    sentences = sum(len(answer["claims"]) for answer in made["spaCy_sentences"])
    rows: list[ComputedRow] = []
    for label, answers in made.items():
        lengths = [len(claim) for answer in answers for claim in answer["claims"]]
        unique = sum(len(set(answer["claims"])) for answer in answers)
        cells = (len(lengths), unique, mean(lengths), len(lengths) / max(1, sentences))
        rows.append(experiment.row(label, label, cells))
    return Computed(rows, left_out(experiment.missing))


def _properties(experiment: _Experiment, made: Made) -> Computed:
    """Make the claims tasks for people (T2)."""
    tasks: list[Fields] = []
    for label, answers in made.items():
        for answer in answers:
            tasks += _property_tasks(label, answer)
    return _for_people((), left_out(experiment.missing), tasks, "property")


def _property_tasks(system: str, made: Mapping[str, Any]) -> Iterator[Fields]:
    """Yield a task for every claim and property (V24 4.1)."""
    question, answer = made["texts"]
    listed = "\n".join(f"{number}. {claim}" for number, claim in enumerate(made["claims"], 1))
    for number, claim in enumerate(made["claims"], 1):
        shown = f"{answer}\n\nThis is claim {number} of its claims:\n{listed}"
        task: Fields = {
            "answer": claim or "(empty)",
            "source": answer,
            "context": [
                {"speaker": "user", "text": question or "–"},
                {"speaker": "system", "text": shown},
            ],
            "system": system,
            "item": f"{content_id(answer)} {number}",
            "unit": "claim",
        }
        yield from ({**task, "dataset": name} for name in PROPERTIES)


def _classes(experiment: _Experiment, made: Made) -> Computed:
    """Summarise T3, and F3 in percent, with the agreement on check-worthiness (V24 4.2)."""
    rows: list[ComputedRow] = []
    for label, answers in made.items():
        classes = Counter(name for answer in answers for name in answer["classes"])
        total = classes.total()
        cells: list[Cell] = [total, *(classes[name] for name in CLASSES)]
        if experiment.number == "F3":
            cells = [percent(classes[name], total) for name in CLASSES]
        rows.append(experiment.row(label, label, cells))
    found: list[Claim] = []
    for row in experiment.inputs.rows:
        labelled: Any = row.fields.get("claims") or ()
        factual = [_bare_claim(c["claim"]) for c in labelled if c.get("worthiness") == "factual"]
        found += experiment.annotated("worthiness", row, factual, GPT35)
    agreed = sum(claim.worthiness == "factual" for claim in found)
    note = f"of the claims that people call factual, found so: {agreed} of {len(found)}"
    notes = [f"{note} (V24 4.2: 79 of 85)"] if found else []
    return Computed(rows, [*notes, *left_out(experiment.missing)])


def _detection(experiment: _Experiment) -> Steps:
    """Measure the detection of claims that are not independent, by people's labels (T5)."""
    from sklearn.metrics import precision_recall_fscore_support

    models = (GPT35, GPT4)

    def work(row: Row) -> dict[str, list[Fields]]:
        labelled: Any = row.fields.get("claims")
        made: dict[str, list[Fields]] = {"Overall": []}
        try:
            claims = [_bare_claim(one["claim"]) for one in labelled]
            for one in labelled:
                made["Overall"].append({"label": not one["independent"]})
                made.setdefault(one["segmenter"], []).append(made["Overall"][-1])
        except (TypeError, KeyError, ValueError):
            raise BadInput(f"the row has no labelled claims; expected {LABELLED}") from None
        for model in models:
            tested = experiment.annotated("independence", row, claims, model)
            for result, claim in zip(made["Overall"], tested, strict=True):
                result[model] = not claim.independent
        return made

    made = yield from experiment.inputs.each("T5", work)
    method = ", ".join(experiment.asking(model).openai_model for model in models)
    rows: list[ComputedRow] = []
    for label, answers in made.items():
        claims = list(chain.from_iterable(answers))
        known = [claim["label"] for claim in claims]
        cells: list[Cell] = []
        for model in models:
            found = [claim[model] for claim in claims]
            scores = precision_recall_fscore_support(
                known, found, average="binary", zero_division=0.0
            )
            cells += map(float, scores[:3])
        rows.append(ComputedRow(label, method if experiment.settings.has_llm else "rules", cells))
    return Computed(rows)


def _enrichment(experiment: _Experiment, made: Made) -> Computed:
    """Count the dependent claims that became independent; those that could not stay (F2)."""
    rows: list[ComputedRow] = []
    for label, answers in made.items():
        claims = list(chain.from_iterable(answers))
        independent = sum(claim["independent"] for claim in claims)
        length = mean([len(claim["text"]) for claim in claims])
        shares = (percent(independent, len(claims)), length)
        cells = (independent, len(claims) - independent, *shares)
        rows.append(experiment.row(label, label, cells))
    return Computed(rows)


# --- summaries of pairs ---


def _by_verifier(experiment: _Experiment, made: Made) -> Computed:
    """Let DeBERTa, GPT-3.5 and people judge pairs; an unusable reply is a pair too (T4)."""
    people = relations(experiment.inputs) if experiment.inputs.project else {}
    rows = [ComputedRow(label, "people", _with_share(own)) for label, own in people.items()]
    tasks: list[Fields] = []
    for label, answers in made.items():
        claims = list(chain.from_iterable(answers))
        size = label.rpartition(" ")[2]
        readers = {label: ("relation", experiment.settings.verifier)}
        if experiment.settings.has_llm:
            readers[f"GPT3.5 - {size}"] = ("reply", "llm-pair")
        for name, (by, verifier) in readers.items():
            counts = _relations(claims, by)
            del counts[MISSING]
            rows.append(experiment.row(name, label, _with_share(counts), verifier))
        for claim in claims:
            task: Fields = {"answer": claim["text"], "unit": "claim", "system": f"Human - {size}"}
            tasks += [{**task, "source": pair["passage"]} for pair in claim["pairs"]]
    return Computed(rows) if people else _for_people(rows, (), tasks, "relation")


def _with_share(counts: Counter[str]) -> list[Cell]:
    share = percent(counts["no_relation"], counts.total())
    return [*(counts[name] for name in RELATIONS), share]


def _by_independence(experiment: _Experiment, made: Made) -> Computed:
    """Compare independent and dependent claims, enriched ones (T7) or direct ones (T8)."""
    columns = RELATIONS
    if experiment.number == "T8":
        columns = ("contradicted", "entailed", MISSING, "no_relation")
    rows: list[ComputedRow] = []
    notes: list[str] = []
    for name, answers in made.items():
        claims = list(chain.from_iterable(answers))
        for kind, is_independent in KINDS.items():
            own = [claim for claim in claims if claim["independent"] is is_independent]
            counts = _relations(own)
            total = sum(counts[column] for column in columns)
            cells = [percent(counts[column], total) for column in columns]
            verifier = experiment.settings.verifier
            rows.append(experiment.row(f"{name} {kind}", name, cells, verifier))
            notes += _notes(f"{name} {kind}", own)
        notes += _notes(name, claims)
    return Computed(rows, notes)


def _notes(name: str, claims: Sequence[Checked]) -> list[str]:
    """Return the mean length of claims (V24 5.1.1), and the share without a relation (V24 5.3)."""
    counts = _relations(claims)
    length = mean([len(claim["text"]) for claim in claims])
    share = percent(counts["no_relation"] + counts[MISSING], counts.total())
    if length is None or share is None:
        return []
    return [f"{name}: {length:.1f} characters a claim, {share:.1f} % of pairs without a relation"]


def _by_embedder(experiment: _Experiment, made: Made) -> Computed:
    """Return the means over the answers of the shares of their pairs; missing ones count (T9)."""
    rows: list[ComputedRow] = []
    for label, answers in made.items():
        counted = [_relations(claims) for claims in answers]
        cells = [mean([percent(c[name], c.total()) for c in counted]) for name in RELATIONS]
        settings = experiment.series[label]
        used = settings.embedding_model or settings.embedder
        rows.append(experiment.row(label, label, cells, used, settings.verifier))
    return Computed(rows, left_out(experiment.missing))


SUMMARIES: Mapping[str, Callable[[_Experiment, Made], Computed]] = {
    "T1": _counts,
    "T2": _properties,
    "T3": _classes,
    "F3": _classes,
    "F2": _enrichment,
    "T4": _by_verifier,
    "T7": _by_independence,
    "T8": _by_independence,
    "T9": _by_embedder,
}
