"""The tables of V24: claims, their worthiness and independence, relations of pairs."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from attribution.claims import worthiness
from attribution.claims.context import add_context, check_independence
from attribution.claims.llm_annotation import LlmAnnotator
from attribution.embedders import EMBEDDERS
from attribution.errors import AttributionError, BadInput
from attribution.llm.client import check_answered, replies_required
from attribution.pipeline.claims import segment
from attribution.pipeline.experiment import Fields
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.papers import Series, paper
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
    texts_of,
)
from attribution.studies.preset import missing_step, preset
from attribution.studies.results import mean, percent
from attribution.text.parse import parse
from attribution.text_files import Cell, Row, format_cell
from attribution.types import Claim, Evidence, Judgement, content_id
from attribution.verdicts import leaning
from attribution.verifiers import VERIFIERS
from attribution.verifiers.reader import one_by_one

GPT35, GPT4 = "GPT-3.5", "GPT-4"
MISSING = "missing"  # the relation of a claim for which no passage was retrieved
RELATIONS = ("contradicted", "entailed", "no_relation")
CLASSES = ("factual", "not_a_claim", "opinion", "other")
KINDS = {" Independent": True, " Non-Ind.": False}
RAW = ("T1", "T3")  # of claims as a system writes them

Answers = Sequence[Any]  # what was made of each answer
Cells = Sequence[Cell]


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput if no method of it is ready."""
    experiment = _Experiment(number, inputs)
    if not experiment.series:
        raise BadInput("; ".join(left_out(experiment.missing)))
    methods = [number, *map(experiment.method, experiment.series)]
    made = yield from inputs.each(methods, experiment.work)
    rows: dict[str, ComputedRow] = {}
    notes: list[str] = []
    for label, answers in made.items():
        for kind, cells in MEASURES[number](answers).items():
            rows[f"{label}{kind}"] = ComputedRow(experiment.method(label), cells)
        if number in ("T7", "T8"):
            notes += lengths(label, answers)
    if number == "T7":
        notes.append(reduction(made))
    if number == "T3":
        with replies_required():
            notes += experiment.worthiness_note()
    return Computed(rows, [*notes, *left_out(experiment.missing)])


class _Experiment:
    """The steps of V24 with its settings, by the rows of a table.

    A row whose methods aren't ready is left out.
    """

    def __init__(self, number: str, inputs: TableInputs) -> None:
        self.number, self.inputs = number, inputs
        own = inputs.asking("")
        values = preset()
        if own.verifier != "auto":
            values["verifier"] = own.verifier
        self.settings = own.model_copy(update=values)
        self.rows = paper("v24").tables[number].series
        self.series: dict[str, Settings] = {}
        self.missing: dict[str, str] = {}
        for label, row in self.rows.items():
            try:
                self.series[label] = self._settings_of(row)
            except AttributionError as error:
                self.missing[label] = str(error)

    def _settings_of(self, row: Series) -> Settings:
        """Return the settings of a row.

        Raises:
            AttributionError: A method isn't ready, or an endpoint has no embeddings.
        """
        changes = {"segmenter": row.segmenter, **row.changes}
        settings = self.inputs.asking(row.model, self.settings).model_copy(update=changes)
        needed = [SEGMENTERS[row.segmenter]]
        if self.number not in RAW:
            needed.append(VERIFIERS[settings.verifier])
            EMBEDDERS.chosen(settings)
        for entry in needed:
            step = missing_step(entry, settings)
            if step:
                raise BadInput(step)
        if row.reader:
            VERIFIERS.build(row.reader, settings)
        if self.number == "T9":
            EMBEDDERS.chosen(settings).embed(["claim"])
        return settings

    def method(self, label: str) -> str:
        """Name what makes the figures of a row, with the language models if there are any."""
        settings = self.series[label]
        names = [settings.segmenter, settings.openai_model or "rules"]
        if self.number not in RAW:
            reader = self.rows[label].reader or settings.verifier
            names += [settings.embedding_model or settings.embedder, reader]
        return ", ".join(names)

    def work(self, row: Row) -> Mapping[str, Any]:
        """Return what a table needs of one answer, by the label of the table's row."""
        make = self._raw_claims if self.number in RAW else self._checked
        return {label: make(row, label) for label in self.series}

    def annotated(
        self, task: str, row: Row, claims: Sequence[Claim], model: str = GPT4
    ) -> list[Claim]:
        """Let a language model annotate claims; in T3, rules do without one (V24 4.2, 5.1.1)."""
        question, answer = texts_of(row)
        by_rules = list(claims)
        if task == "worthiness":
            by_rules = worthiness.classify(add_context(claims, answer), answer)
        elif task == "independence":
            question, by_rules = "", check_independence(claims)
        if not self.settings.has_llm:
            return by_rules
        settings = self.inputs.asking(model, self.settings)
        annotator = LlmAnnotator(settings, Store.open(settings.database_url), threading.Event())
        return annotator.annotate(task, question, by_rules, answer)[0]

    def _raw_claims(self, row: Row, label: str) -> Fields:
        """Return claims as a system writes them, also empty and repeated ones (V24 4.1).

        Of T3, the classes of the unique ones are returned too.
        """
        settings = self.series[label]
        sentences = _sentences(row)
        claims = _decomposed(sentences, settings)
        classes: list[str | None] = []
        if self.number == "T3":
            classified = self.annotated("worthiness", row, _unique(claims), GPT35)
            classes = [*(c.worthiness for c in classified), *["not_a_claim"] * ("" in claims)]
        return {"claims": claims, "classes": classes, "sentences": len(sentences)}

    def _checked(self, row: Row, label: str) -> list[Fields]:
        """Return the factual claims with the most probable relation to each of their passages.

        FActScore's are made of spaCy's own sentences (V24 4.1). Of enriched ones, only those that
        were dependent, tested again; those that could not be enriched stay (V24 5.1.1, 5.3).
        """
        settings, enricher = self.series[label], self.rows[label].enricher
        if settings.segmenter == "factscore":
            claims = _unique(_decomposed(_sentences(row), settings))
        else:
            claims = list(segment(*texts_of(row), settings).claims)
        claims = self.annotated("worthiness", row, claims, GPT35)
        factual = [claim for claim in claims if claim.worthiness == "factual"]
        claims = self.annotated("independence", row, factual)
        if enricher:
            dependent = [claim for claim in claims if not claim.independent]
            enriched = self.annotated("enrichment", row, dependent, enricher)
            bare = [_bare_claim(claim.enriched or claim.text) for claim in enriched]
            claims = self.annotated("independence", row, bare)
        by_id = {content_id(claim.text): claim for claim in claims}
        relations: dict[str, list[str]] = defaultdict(list)
        if by_id:
            bare = [_bare_claim(claim.text) for claim in by_id.values()]
            evidence = self.inputs.check(row, bare, settings).evidence
            read = self._read(row, label, by_id, evidence)
            for piece, relation in zip(evidence, read, strict=True):
                relations[piece.claim_id].append(relation)
        return [
            {
                "length": len(claim.text),
                "independent": bool(claim.independent),
                "relations": relations[claim_id],
            }
            for claim_id, claim in by_id.items()
        ]

    def _read(
        self, row: Row, label: str, claims: Mapping[str, Claim], evidence: Sequence[Evidence]
    ) -> list[str]:
        """Return the relation of each pair; that of an unusable reply is empty.

        A row's own reader reads claim and passage as they stand, with the question (V24 4.3).
        """
        reader = self.rows[label].reader
        if not reader:
            return [leaning(piece.probabilities) for piece in evidence]
        question = texts_of(row)[0]
        pairs = [(claims[piece.claim_id].text, piece.text, question) for piece in evidence]
        verifier = VERIFIERS.build(reader, self.series[label])
        judged = one_by_one(verifier.verify, pairs)
        check_answered(judged)
        return [leaning(j.probabilities) if isinstance(j, Judgement) else "" for j in judged]

    def worthiness_note(self) -> list[str]:
        """Say how many of the claims that people call factual are found so (V24 4.2)."""
        found: list[Claim] = []
        for row in self.inputs.rows:
            labelled: Any = row.fields.get("claims")
            factual: list[Claim] = []
            for one in labelled if isinstance(labelled, list) else ():
                if isinstance(one, dict) and one.get("worthiness") == "factual":
                    factual.append(_bare_claim(str(one.get("claim"))))
            found += self.annotated("worthiness", row, factual, GPT35)
        agreed = sum(claim.worthiness == "factual" for claim in found)
        note = f"of the claims that people call factual, found so: {agreed} of {len(found)}"
        return [f"{note} (V24 4.2: 79 of 85)"] if found else []


def _sentences(row: Row) -> list[str]:
    """Return spaCy's own sentences of an answer, empty ones included."""
    return [sentence.text.strip() for sentence in parse(texts_of(row)[1]).sents]


def _decomposed(sentences: Sequence[str], settings: Settings) -> Sequence[str]:
    """Return the claims that a system writes for all sentences."""
    if settings.segmenter == "spacy":
        return sentences
    segmenter: Any = SEGMENTERS.chosen(settings)
    return list(chain.from_iterable(segmenter.decompose(sentences)))


def _unique(texts: Sequence[str]) -> list[Claim]:
    return [_bare_claim(text) for text in dict.fromkeys(texts) if text]


def _bare_claim(text: str) -> Claim:
    return Claim(id=content_id(text), text=text, spans=(), worthiness="factual", coherent=True)


def _flat(answers: Answers) -> list[Any]:
    return list(chain.from_iterable(answers))


def _counted(claims: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Count the relations of pairs, and claims without a passage."""
    relations = Counter(chain.from_iterable(claim["relations"] for claim in claims))
    relations[MISSING] = sum(not claim["relations"] for claim in claims)
    return relations


def _of_kind(answers: Answers, is_independent: bool) -> list[Any]:
    return [claim for claim in _flat(answers) if claim["independent"] is is_independent]


def lengths(label: str, answers: Answers) -> list[str]:
    """Return the number of claims and their mean length, by independence (V24 5.1.1)."""
    notes: list[str] = []
    for kind, is_independent in KINDS.items():
        characters = [claim["length"] for claim in _of_kind(answers, is_independent)]
        shown = format_cell(mean(characters), 1)
        notes.append(f"{label}{kind}: {len(characters)} claims, {shown} characters a claim")
    return notes


def reduction(made: Mapping[str, Answers]) -> str:
    """Return the shares of pairs without a relation before and after enrichment (V24 5.3).

    Before: of the dependent claims. After: of all that are independent in the end. The paper
    doesn't say of which claims its figures are; they lie between those of its rows for these.
    """
    measure = MEASURES["T8"]
    before = measure(made["Original"])[" Non-Ind."][-1]
    after = measure([*made["Original"], *made["Enriched"]])[" Independent"][-1]
    return (
        f"pairs without a relation: {format_cell(before, 1)} % of dependent claims, "
        f"{format_cell(after, 1)} % of those that are independent in the end "
        "(V24 5.3: 69.9 and 53.7)"
    )


# --- measures: cells by what follows the row's label ---


def _claims(answers: Answers) -> dict[str, Cells]:
    lengths = [len(claim) for answer in answers for claim in answer["claims"]]
    unique = sum(len(set(answer["claims"])) for answer in answers)
    sentences = sum(answer["sentences"] for answer in answers)
    return {"": (len(lengths), unique, mean(lengths), len(lengths) / max(1, sentences))}


def _classes(answers: Answers) -> dict[str, Cells]:
    classes = Counter(name for answer in answers for name in answer["classes"])
    return {"": (classes.total(), *(classes[name] for name in CLASSES))}


def _relations(answers: Answers) -> dict[str, Cells]:
    """Return the numbers of pairs; one with an unusable reply is a pair too."""
    counts = _counted(_flat(answers))
    pairs = counts.total() - counts[MISSING]
    share = percent(counts["no_relation"], pairs)
    return {"": (*(counts[name] for name in RELATIONS), share)}


def _by_independence(*columns: str) -> Callable[[Answers], dict[str, Cells]]:
    """Return a measure: shares of pairs; without a column of its own, a missing one is unrelated.

    V24 Table 7 and 8 print the same shares of contradicted and entailed pairs.
    """

    def measure(answers: Answers) -> dict[str, Cells]:
        shares: dict[str, Cells] = {}
        for kind, is_independent in KINDS.items():
            counts = _counted(_of_kind(answers, is_independent))
            if MISSING not in columns:
                counts["no_relation"] += counts.pop(MISSING)
            shares[kind] = [percent(counts[column], counts.total()) for column in columns]
        return shares

    return measure


def _mean_shares(answers: Answers) -> dict[str, Cells]:
    """Return the means over the answers of the shares of their pairs; missing ones count."""
    counted = [_counted(claims) for claims in answers]
    return {"": [mean([percent(c[name], c.total()) for c in counted]) for name in RELATIONS]}


MEASURES: Mapping[str, Callable[[Answers], dict[str, Cells]]] = {
    "T1": _claims,
    "T3": _classes,
    "T4": _relations,
    "T7": _by_independence(*RELATIONS),
    "T8": _by_independence("contradicted", "entailed", MISSING, "no_relation"),
    "T9": _mean_shares,
}
