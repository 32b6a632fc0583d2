"""Check many answers, one report each, in a file that a killed batch continues."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from attribution.conversation import turns_of
from attribution.embedders import EMBEDDERS
from attribution.errors import BadInput
from attribution.events import Finished
from attribution.pipeline.experiment import Engine, Experiment, Fields, RowDone, local
from attribution.pipeline.run import run
from attribution.retrieval.chunkers import CHUNKERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text_files import Row
from attribution.types import Document
from attribution.verifiers import VERIFIERS

INPUTS = ("question", "answer", "documents", "turns")  # the report has them


def batch(
    rows: Sequence[Row], settings: Settings, path: Path, engine: Engine = local
) -> Iterator[RowDone]:
    """Analyse every row's `answer` with its `question`, `documents` and `turns`, and write a line
    each.
    """
    return Experiment(rows, partial(Analyst, settings), settings.identity, INPUTS, engine).run(path)


class Analyst:
    """The stages with their models and the store, which all rows of a process share.

    Raises Unavailable or BadInput where one of the implementations is missing, StoreError for the
    database.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.store = settings, Store.open(settings.database_url)
        SEGMENTERS.build(settings.segmenter, settings)
        CHUNKERS.build(settings.chunker, settings)
        EMBEDDERS.build(settings.embedder, settings)
        VERIFIERS.build(settings.verifier, settings)

    def __call__(self, row: Row) -> Fields:
        """The report of a row."""
        settings, documents = self.settings, documents_of(row)
        if documents:
            sources = tuple(dict.fromkeys((*settings.sources, "documents")))
            settings = settings.model_copy(update={"sources": sources})
        question = str(row.fields.get("question") or "")
        context = turns_of(row.fields.get("turns"))
        *_, last = run(
            question, row.fields["answer"], settings, self.store, documents, context=context
        )
        assert isinstance(last, Finished)
        return {"report": json.loads(last.report.to_json())}


def documents_of(row: Row) -> tuple[Document, ...]:
    """Return the row's own sources: texts, or objects with a name and a text. BadInput for anything
    else.
    """
    given = row.fields.get("documents") or []
    documents = []
    for number, one in enumerate(given if isinstance(given, list) else [None], 1):
        name, text = (
            (one.get("name"), one.get("text"))
            if isinstance(one, dict)
            else (f"Document {number}", one)
        )
        if not isinstance(text, str) or not isinstance(name, str):
            raise BadInput(
                '"documents" is not a list of texts or of objects with "name" and "text"'
            )
        documents.append(Document(name, text.encode(), "text/plain"))
    return tuple(documents)
