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

DOCUMENTS = '"documents" is not a list of texts or of objects with "name" and "text"'
INPUTS = ("question", "answer", "documents", "turns")  # the report has them


def batch(
    rows: Sequence[Row], settings: Settings, path: Path, engine: Engine = local
) -> Iterator[RowDone]:
    """Analyse every row, and write a line each.

    Args:
        rows: Each has an `answer` and may have a `question`, `documents` and earlier `turns`.
        settings: Of all rows.
        path: The file of results; rows that are finished in it are left out.
        engine: What runs the rows.

    Returns:
        An iterator of the progress.

    Raises:
        Unavailable, BadInput: A model, key or name is missing, or another run writes the file.
    """
    prepare = partial(Analyst, settings)
    return Experiment(rows, prepare, settings.identity, INPUTS, engine).run(path)


class Analyst:
    """The stages with their models and the store, which all rows of a process share."""

    def __init__(self, settings: Settings) -> None:
        """Build the models, so that what is missing is said before any row.

        Raises:
            Unavailable, BadInput: One of the implementations is missing.
            StoreError: The database cannot be used.
        """
        self.settings = settings
        self.store = Store.open(settings.database_url)
        SEGMENTERS.build(settings.segmenter, settings)
        CHUNKERS.build(settings.chunker, settings)
        EMBEDDERS.build(settings.embedder, settings)
        VERIFIERS.build(settings.verifier, settings)

    def __call__(self, row: Row) -> Fields:
        """Return the report of a row."""
        settings = self.settings
        documents = documents_of(row)
        if documents:
            sources = tuple(dict.fromkeys((*settings.sources, "documents")))
            settings = settings.model_copy(update={"sources": sources})
        question = str(row.fields.get("question") or "")
        answer = row.fields["answer"]
        context = turns_of(row.fields.get("turns"))
        *_, last = run(question, answer, settings, self.store, documents, context=context)
        assert isinstance(last, Finished)
        return {"report": json.loads(last.report.to_json())}


def documents_of(row: Row) -> tuple[Document, ...]:
    """Return the row's own sources: texts, or objects with a name and a text.

    Raises:
        BadInput: They are anything else.
    """
    given = row.fields.get("documents") or []
    if not isinstance(given, list):
        raise BadInput(DOCUMENTS)
    documents = []
    for number, document in enumerate(given, 1):
        if isinstance(document, str):
            document = {"name": f"Document {number}", "text": document}
        match document:
            case {"name": str(name), "text": str(text)}:
                documents.append(Document(name, text.encode(), "text/plain"))
            case _:
                raise BadInput(DOCUMENTS)
    return tuple(documents)
