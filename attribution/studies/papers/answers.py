"""The tables of V24: claims of segmenters, their worthiness and independence, and the relations of
pairs.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attribution.claims.llm_annotation import TASKS, LlmAnnotator, llm_tasks
from attribution.embedders import EMBEDDERS
from attribution.errors import AttributionError, BadInput
from attribution.files import Cell, Row
from attribution.pipeline.claims import annotate, segment
from attribution.pipeline.experiment import Fields, RowDone
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.tasks import PROPERTIES
from attribution.studies.papers.annotations import properties, relations
from attribution.studies.papers.reproduce import AHEAD, Computed, TableInputs, report_of, share
from attribution.studies.results import mean, plotly
from attribution.types import UNCHECKED, Claim, content_id
from attribution.verdicts import leaning
from attribution.verifiers import VERIFIERS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# the paper's name → our segmenter, what stands in for it, and which of the two language models it
# asks
SYSTEMS = {
    "spaCy_sentences": ("spacy", "spacy", 0),
    "gpt35_factscore": ("factscore", "clauses", 0),
    "segment5_propsegment": ("propsegment", "predpatt", 0),
    "GPT3.5 direct": ("direct", "sentences", 0),
    "GPT4 direct": ("direct", "sentences", 1),
}
CASE_STUDY = ("spaCy_sentences", "gpt35_factscore", "segment5_propsegment")
ADOPTED = ("GPT3.5 direct", "GPT4 direct", "spaCy_sentences", "gpt35_factscore")
SBERT, ADA, ANGLE = "mpnet", "text-embedding-ada-002", "WhereIsAI/UAE-Large-V1"
RELATIONS = ("contradicted", "entailed", "no_relation")
MODELS, ENRICHED = ("GPT3.5", "GPT4"), "enriched"
Work = Callable[[Row], Any]
Relate = Callable[
    [Row, Sequence[Claim], Settings], Mapping[str, Sequence[Any]]
]  # by claim: what its pairs are


def compute(number: str, given: TableInputs) -> Iterator[RowDone | Computed]:
    """Yield the progress, then one table. BadInput without answers, or without labels where it
    needs them.
    """
    people = _of_people(number, given) if given.project else {}
    if not given.rows and people:
        yield Computed(people)
        return
    if not given.rows:
        raise BadInput(f"V24.{number} needs answers: give them with --input")
    relate: Relate = related
    if given.sample and number in SAMPLED:
        strata: dict[str, set[str]] = {}
        for one in given.each(f"{number} strata", SAMPLED[number](given, _ids), file=AHEAD):
            if isinstance(one, RowDone):
                yield one
                continue
            for answer in one:
                for label, ids in answer.items():
                    strata.setdefault(label, set()).update(
                        i if isinstance(i, str) else i[0] for i in ids
                    )
        drawn = {
            i for ids in strata.values() for i in sorted(ids)[: given.sample]
        }  # ids are hashes: a random draw
        relate = partial(_related_of, drawn)
    work = SAMPLED[number](given, relate) if number in SAMPLED else TABLES[number](given)
    for one in given.each(number, work, given.sample):
        if isinstance(one, RowDone):
            yield one
        elif number == "T2":
            yield Computed(
                people, notes=(given.to_judge([t for tasks in one for t in tasks], "property"),)
            )
        elif number == "T4" and not people:
            tasks = [task for answer in one for task in _pairs(answer)]
            yield Computed(FIGURES[number](one), notes=(given.to_judge(tasks, "relation"),))
        else:
            yield Computed(
                {**FIGURES[number](one), **people}, PLOTS[number](one) if number in PLOTS else {}
            )


def _of_people(number: str, given: TableInputs) -> dict[str, Sequence[Cell]]:
    """Return the figures that an annotation project has. BadInput for a table that needs none."""
    if number == "T2":
        return properties(given)
    if number != "T4":
        raise BadInput(f"V24.{number} needs no annotation project: leave --project out")
    return {name: _counted(counts) for name, counts in relations(given).items()}


def _texts(row: Row) -> tuple[str, str]:
    return str(row.fields.get("question") or ""), str(row.fields["answer"])


def _system(given: TableInputs, name: str) -> Settings:
    """Return the settings of one of the paper's segmenters, or of what stands in for it."""
    segmenter, instead, model = SYSTEMS[name]
    asking = given.asking(model) if segmenter in ("factscore", "direct") else given.settings
    return asking.model_copy(update={"segmenter": given.take(name, SEGMENTERS, segmenter, instead)})


def _claims(row: Row, settings: Settings) -> list[Claim]:
    return list(segment(*_texts(row), settings).claims)


def _annotator(settings: Settings) -> LlmAnnotator:
    return LlmAnnotator(settings, Store.open(settings.database_url), threading.Event())


class _TwoModels(LlmAnnotator):
    """Asks one model for check-worthiness (V24 4.2), another for independence and enrichment (V24
    5.1.1, 5.3).
    """

    def __init__(self, first: Settings, second: Settings) -> None:
        super().__init__(second, Store.open(second.database_url), threading.Event())
        self.worthiness = _annotator(first).worthiness  # type: ignore[method-assign]


def annotated(
    given: TableInputs, row: Row, claims: Sequence[Claim], last: str = "worthiness"
) -> list[Claim]:
    """Return the claims with worthiness, independence and enrichment, by rules or models: those up
    to `last`.
    """
    tasks = [
        t
        for t in TASKS
        if t in llm_tasks(given.settings) and list(TASKS).index(t) <= list(TASKS).index(last)
    ]
    asked = _TwoModels(given.asking(0), given.asking(1)) if tasks else None
    return annotate(*_texts(row), claims, tasks, asked)[0]


def _claims_of(given: TableInputs, names: Sequence[str], worth: bool = False) -> Work:
    systems = {name: _system(given, name) for name in names}
    spacy = _system(given, CASE_STUDY[0])

    def work(row: Row) -> dict[str, Any]:
        made: dict[str, Any] = {"sentences": sum(c.times for c in _claims(row, spacy))}
        for name, settings in systems.items():
            claims = _claims(row, settings)
            claims = annotated(given, row, claims) if worth else claims
            made[name] = [[len(c.text), c.times, c.worthiness] for c in claims]
        return made

    return work


def _segmentation(made: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Cell]]:
    """Count claims, unique claims in an answer, characters a claim and claims a sentence."""
    rows: dict[str, Sequence[Cell]] = {}
    for name in made[0] if made else ():
        if name == "sentences":
            continue
        claims = [claim for answer in made for claim in answer[name]]
        count, sentences = (
            sum(times for _, times, _ in claims),
            sum(answer["sentences"] for answer in made),
        )
        length = sum(size * times for size, times, _ in claims)
        rows[name] = (
            count,
            len(claims),
            length / count if count else None,
            count / sentences if sentences else None,
        )
    return rows


def _worthiness(made: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[int]]:
    rows: dict[str, Sequence[int]] = {}
    for name in made[0] if made else ():
        if name == "sentences":
            continue
        counts = Counter(worthiness for answer in made for _, _, worthiness in answer[name])
        rows[name] = (
            counts.total(),
            *(counts[kind] for kind in ("factual", "not_a_claim", "opinion", "other")),
        )
    return rows


def _ids(row: Row, claims: Sequence[Claim], settings: Settings) -> dict[str, list[list[str]]]:
    """Return each claim's id in the place of its pairs' relations."""
    return {c.id: [[c.id]] for c in claims}


def _related_of(
    drawn: set[str], row: Row, claims: Sequence[Claim], settings: Settings
) -> dict[str, list[list[str]]]:
    return related(row, [c for c in claims if c.id in drawn], settings)


def related(row: Row, claims: Sequence[Claim], settings: Settings) -> dict[str, list[list[str]]]:
    """Return each claim's pairs: the most probable of three relations, claim and passage; `missing`
    without one.
    """
    own = [
        c.model_copy(update={"worthiness": "factual", "coherent": True, "enriched": None})
        for c in claims
    ]
    plain = settings.model_copy(update={"decision": "plain", "coherence": 0.0, "query": "claim"})
    found: dict[str, list[list[str]]] = {c.id: [] for c in own}
    texts = {c.id: c.text for c in own}
    if not own:
        return found
    report = report_of(row, own, plain)
    for piece in report.evidence:
        found[piece.claim_id].append(
            [leaning(piece.probabilities), texts[piece.claim_id], piece.text]
        )
    reached = {v.claim_id for v in report.verdicts if v.label not in UNCHECKED}
    return {i: pairs or [["missing", texts[i], ""]] for i, pairs in found.items() if i in reached}


def _with_verifier(given: TableInputs, settings: Settings) -> Settings:
    return settings.model_copy(update={"verifier": given.judge("DeBERTa", "deberta")})


def _factual(
    given: TableInputs, row: Row, settings: Settings, last: str = "worthiness"
) -> list[Claim]:
    return [
        c for c in annotated(given, row, _claims(row, settings), last) if c.worthiness == "factual"
    ]


def _by_verifier(given: TableInputs, relate: Relate) -> Work:
    factscore = _system(given, "gpt35_factscore")
    judges = {"GPT3.5": given.take("GPT3.5", VERIFIERS, "llm-pair", ""), "DeBERTa": ""}
    deberta = _with_verifier(given, factscore)

    def work(row: Row) -> dict[str, list[Any]]:
        claims, made = _factual(given, row, factscore), {}
        for name, verifier in judges.items():
            if name == "GPT3.5" and not verifier:
                continue  # no verifier of ours stands in for a language model
            for size in (256, 512):
                own = deberta.model_copy(
                    update={"chunk_size": size} | ({"verifier": verifier} if verifier else {})
                )
                made[f"{name} - {size}"] = [
                    p for pairs in relate(row, claims, own).values() for p in pairs
                ]
        return made

    return work


def _verifiers(made: Sequence[Mapping[str, list[Any]]]) -> dict[str, Sequence[Cell]]:
    return {
        n: _counted(Counter(p[0] for answer in made for p in answer[n]))
        for n in (made[0] if made else ())
    }


def _counted(counts: Mapping[str, int]) -> Sequence[Cell]:
    cells = [counts.get(relation, 0) for relation in RELATIONS]
    return (*cells, share(cells[-1], sum(cells)))


def _pairs(answer: Mapping[str, list[Any]]) -> list[Fields]:
    """Return the pairs of an answer, as tasks for people."""
    sizes = [name for name in answer if name.startswith("DeBERTa")]
    return [
        {
            "answer": claim,
            "source": passage,
            "system": name.replace("DeBERTa", "Human"),
            "unit": "claim",
        }
        for name in sizes
        for relation, claim, passage in answer[name]
        if relation != "missing"
    ]


def _properties(given: TableInputs) -> Work:
    """Make the claims of an answer tasks for people, each as often as it was made, one for every
    property.
    """
    systems = {name: _system(given, name) for name in CASE_STUDY}

    def work(row: Row) -> list[Fields]:
        tasks: list[Fields] = []
        question, answer = _texts(row)
        for name, settings in systems.items():
            texts = [c.text for c in _claims(row, settings) for _ in range(c.times)]
            listed = "\n".join(f"{n}. {text}" for n, text in enumerate(texts, 1))
            for n, text in enumerate(texts, 1):
                for of in PROPERTIES:
                    shown = f"The claims of this answer, of which this is number {n}:\n{listed}"
                    spoken = [
                        ("user", question),
                        ("system", shown if of == "repetition" else answer),
                    ]
                    context = [{"speaker": who, "text": said} for who, said in spoken if said]
                    tasks.append(
                        {
                            "answer": text,
                            "source": answer,
                            "context": context,
                            "system": name,
                            "dataset": of,
                            "item": f"{content_id(answer)} {n}",
                            "unit": "claim",
                        }
                    )
        return tasks

    return work


def _grouped(
    row: Row, claims: Sequence[Claim], settings: Settings, name: str, relate: Relate
) -> dict[str, list[str]]:
    """Return the relations of the pairs of independent and of other claims."""
    found = relate(row, claims, settings)
    made: dict[str, list[str]] = {}
    for claim in claims:
        label = name.format("Independent" if claim.independent else "Non-Ind.")
        made.setdefault(label, []).extend(pair[0] for pair in found.get(claim.id, ()))
    return made


def _by_independence(given: TableInputs, relate: Relate, direct: bool) -> Work:
    given.asking(1)  # noted before any row
    factscore = _with_verifier(given, _system(given, "gpt35_factscore"))
    segmented = (
        {name: _with_verifier(given, _system(given, name)) for name in ADOPTED[:2]}
        if direct
        else {}
    )

    def work(row: Row) -> dict[str, Any]:
        claims = _factual(given, row, factscore, "independence")
        made: dict[str, Any] = _grouped(row, claims, factscore, "Original {}", relate)
        for name, settings in segmented.items():
            label = name.replace("direct", "Direct") + " - {}"
            own = _factual(given, row, settings, "independence")
            made |= _grouped(row, own, settings, label, relate)
        if not direct:
            again = {place: _enriched(given, row, claims, place) for place in (0, 1)}
            made |= _grouped(row, again[1], factscore, "Enriched {}", relate)
            made[ENRICHED] = {
                MODELS[place]: [bool(c.independent) for c in own] for place, own in again.items()
            }
        return made

    return work


def _enriched(given: TableInputs, row: Row, claims: Sequence[Claim], place: int) -> list[Claim]:
    """Return the claims that are not independent as GPT-3.5 (0) or GPT-4 (1) enriches them, tested
    again by GPT-4.
    """
    own = [c for c in claims if not c.independent]
    if given.settings.enrichment == "llm":
        own = _annotator(given.asking(place)).enrichment(*_texts(row), own)[0]
    tested = annotated(
        given, row, [_as_claim(c.enriched) for c in own if c.enriched], "independence"
    )
    return [c.model_copy(update={"worthiness": "factual"}) for c in tested]


def _as_claim(text: str) -> Claim:
    return Claim(id=content_id(text), text=text, spans=())


def _shares(
    made: Sequence[Mapping[str, list[str]]], of: Sequence[str] = RELATIONS
) -> dict[str, Sequence[Cell]]:
    """Return the shares of all pairs of a row; without `missing` among the columns, of those that
    are there.
    """
    rows: dict[str, Sequence[Cell]] = {}
    for name in dict.fromkeys(label for answer in made for label in answer if label != ENRICHED):
        counts = Counter(r for answer in made for r in answer.get(name, ()) if r in of)
        rows[name] = tuple(share(counts[relation], counts.total()) for relation in of)
    return rows


def _shares_with_missing(made: Sequence[Mapping[str, list[str]]]) -> dict[str, Sequence[Cell]]:
    return _shares(made, ("contradicted", "entailed", "missing", "no_relation"))


def _by_embedder(given: TableInputs) -> Work:
    direct = _with_verifier(given, _system(given, "GPT4 direct"))
    sbert: dict[str, object] = {
        "embedder": given.take("SBERT", EMBEDDERS, SBERT, "minilm"),
        "embedding_model": "",
    }
    cells: dict[str, dict[str, object]] = {
        "SBert + Recursive CW": sbert | {"chunker": "recursive", "chunk_overlap": 64},
        "SBert Baseline (Macro)": sbert | {"chunker": "fixed"},
    }
    for name, embedder, model in (
        ("Ada 2.0", "openai", ADA),
        ("Angle", "sentence_transformer", ANGLE),
    ):
        if given.take(name, EMBEDDERS, embedder, "", "" if embedder == "openai" else model):
            own: dict[str, object] = {"embedder": embedder, "embedding_model": model}
            try:
                EMBEDDERS.build(embedder, direct.model_copy(update=own)).embed(["claim"])
            except AttributionError as error:  # an endpoint that has chat models alone
                given.note(name, model, "", str(error))
            else:
                cells[name] = own | {"chunker": "fixed"}

    def work(row: Row) -> dict[str, list[str]]:
        claims = _factual(given, row, direct)
        changed = {
            n: direct.model_copy(update={"ranking": "vectors", "shortlist": 0} | c)
            for n, c in cells.items()
        }
        return {
            n: [p[0] for of in related(row, claims, s).values() for p in of]
            for n, s in changed.items()
        }

    return work


def _macro_shares(made: Sequence[Mapping[str, list[str]]]) -> dict[str, Sequence[Cell]]:
    """Return means over the answers of the shares of their pairs."""
    names = dict.fromkeys(label for answer in made for label in answer)
    each = {
        name: [_shares([{name: answer[name]}])[name] for answer in made if answer.get(name)]
        for name in names
    }
    return {
        name: tuple(mean(column) for column in zip(*rows, strict=True))
        for name, rows in each.items()
        if rows
    }


LABELS = '"claims": [{"claim": "…", "independent": true or false, "segmenter": "factscore, segmenT5 or spaCy"}]'


def _independence(given: TableInputs) -> Work:
    """Detect independence among labelled claims, with both language models or the rules in their
    place.
    """
    places = {name: given.asking(number) for number, name in enumerate(MODELS)}
    if not given.settings.has_llm:
        given.note(
            "independence", "GPT-3.5 and GPT-4", "rules", "name a language model (docs/llm.md)"
        )
    else:
        places = {name: s.model_copy(update={"independence": "llm"}) for name, s in places.items()}

    def work(row: Row) -> list[Any]:
        given_claims = row.fields.get("claims")
        if not isinstance(given_claims, list) or not all(
            isinstance(c, dict)
            and str(c.get("claim", "")).strip()
            and isinstance(c.get("independent"), bool)
            for c in given_claims
        ):
            raise BadInput(f"the row has no labelled claims; expected {LABELS}")
        claims = [
            _as_claim(c["claim"]).model_copy(update={"worthiness": "factual", "id": str(n)})
            for n, c in enumerate(given_claims)
        ]
        found = {
            name: annotated_independence(row, claims, settings) for name, settings in places.items()
        }
        return [
            [
                str(c.get("segmenter") or ""),
                c["independent"],
                *(found[name][str(n)] for name in places),
            ]
            for n, c in enumerate(given_claims)
        ]

    return work


def annotated_independence(
    row: Row, claims: Sequence[Claim], settings: Settings
) -> dict[str, bool]:
    """Return whether each claim, by id, is found to be independent."""
    if settings.independence == "llm":
        found, failures = _annotator(settings).independence("", claims)
        if failures:
            raise BadInput(failures[0].message)
    else:
        from attribution.claims.context import check_independence

        found = check_independence(claims)
    return {c.id: bool(c.independent) for c in found}


def _detection(made: Sequence[Sequence[Sequence[Any]]]) -> dict[str, Sequence[Cell]]:
    """Return precision, recall and F1 of the claims that are not independent, for both models."""
    judged = [one for answer in made for one in answer]
    systems = {"Overall": judged} | {
        name: own
        for name in ("factscore", "segmenT5", "spaCy")
        if (own := [j for j in judged if j[0] == name])
    }
    rows: dict[str, Sequence[Cell]] = {}
    for name, own in systems.items():
        cells: list[Cell] = []
        for place in (2, 3):
            hits = sum(not j[1] and not j[place] for j in own)
            said, there = sum(not j[place] for j in own), sum(not j[1] for j in own)
            precision, recall = (round(hits / n, 4) if n else None for n in (said, there))
            cells += [
                precision,
                recall,
                round(2 * hits / (said + there), 4) if said + there else None,
            ]
        rows[name] = cells
    return rows


# number → how each answer is read, and the figures of all answers
TABLES: dict[str, Callable[[TableInputs], Work]] = {
    "T1": partial(_claims_of, names=CASE_STUDY),
    "T2": _properties,
    "T3": partial(_claims_of, names=(*CASE_STUDY, *ADOPTED[:2]), worth=True),
    "T5": _independence,
    "T6": partial(_claims_of, names=ADOPTED),
    "T9": _by_embedder,
}
SAMPLED: dict[str, Callable[[TableInputs, Relate], Work]] = {  # those whose claims may be a sample
    "T4": _by_verifier,
    "T7": partial(_by_independence, direct=False),
    "T8": partial(_by_independence, direct=True),
}
FIGURES: dict[str, Callable[[Sequence[Any]], Mapping[str, Sequence[Cell]]]] = {
    "T1": _segmentation,
    "T3": _worthiness,
    "T4": _verifiers,
    "T5": _detection,
    "T6": _segmentation,
    "T7": _shares,
    "T8": _shares_with_missing,
    "T9": _macro_shares,
}


def _bars_of_enrichment(made: Sequence[Mapping[str, Any]]) -> dict[str, Figure]:
    """Draw the share of claims that enrichment makes independent, by model (V24 Figure 2)."""
    own = [[one for answer in made for one in answer[ENRICHED][name]] for name in MODELS]
    figure = plotly().Figure()
    figure.add_bar(name="published", x=MODELS, y=[36.9, 41.7])
    figure.add_bar(name="ours", x=MODELS, y=[share(sum(found), len(found)) for found in own])
    figure.update_layout(yaxis={"title": {"text": "made independent, % of the enriched claims"}})
    return {"F2": figure}


def _bars_of_worthiness(made: Sequence[Mapping[str, Any]]) -> dict[str, Figure]:
    """Draw the classes of the claims of four segmenters (V24 Figure 3, whose shares are in V24 5.2
    and Table 3).
    """
    rows, names = _worthiness(made), [name for name in ADOPTED if made]
    figure = plotly().Figure()
    for number, kind in enumerate(("factual", "not a claim", "opinion", "other"), 1):
        figure.add_bar(
            name=kind, x=names, y=[share(rows[name][number], rows[name][0]) for name in names]
        )
    figure.add_scatter(
        name="factual, published", x=ADOPTED, y=[91.9, 99.5, 64.3, 86.3], mode="markers"
    )
    figure.update_layout(barmode="stack", yaxis={"title": {"text": "% of the unique claims"}})
    return {"F3": figure}


PLOTS = {"T3": _bars_of_worthiness, "T7": _bars_of_enrichment}
