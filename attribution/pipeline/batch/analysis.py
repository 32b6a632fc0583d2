"""One row → its report, or what is wrong with it; and the engine that does so in this process."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attribution.chunkers import CHUNKERS
from attribution.claims.conversation import turns_of
from attribution.embedders import EMBEDDERS
from attribution.errors import BadInput, setup_error
from attribution.events import Finished
from attribution.pipeline.run import run
from attribution.registry import build
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text.json_lines import Row
from attribution.types import Document, Label, Report
from attribution.verifiers import VERIFIERS


@dataclass(frozen=True)
class Analysed:
    """The report of a row as JSON, or what is wrong with the row."""

    report: str = ""
    problem: str = ""

    def labels(self) -> Counter[Label]:
        """The verdicts of the report, counted."""
        return Counter(v["label"] for v in json.loads(self.report)["verdicts"])


class Local:
    """The engine of this process: one row after the other."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def analyse(self, rows: Sequence[Row]) -> Iterator[tuple[int, Analysed]]:
        """In the order of the rows."""
        analyst = Analyst(self.settings)
        for place, row in enumerate(rows):
            yield place, analyst.analyse(row)


class Analyst:
    """The stages with their models and the store, which all rows of a process share.

    Raises Unavailable or BadInput where one of the implementations is missing, StoreError for the database.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.store = settings, Store.open(settings.database_url)
        build(SEGMENTERS, settings.segmenter, settings, "segmenter")
        build(CHUNKERS, settings.chunker, settings, "chunker")
        build(EMBEDDERS, settings.embedder, settings, "embedder")
        build(VERIFIERS, settings.verifier, settings, "verifier")

    def analyse(self, row: Row) -> Analysed:
        """Whatever a row does costs that row alone. Unavailable or StoreError is raised for what costs all of them, and
        this row is analysed again by the next call."""
        try:
            return Analysed(self._report(row).to_json())
        except BadInput as error:
            return Analysed(problem=str(error))
        except Exception as error:
            if (cause := setup_error(error)) is not None:
                raise cause from error
            said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            return Analysed(problem=f"the analysis ended with an error ({said}); the next call tries this row again")

    def _report(self, row: Row) -> Report:
        settings, documents = self.settings, _documents(row)
        if documents:
            sources = tuple(dict.fromkeys((*settings.sources, "documents")))
            settings = settings.model_copy(update={"sources": sources})
        question = str(row.fields.get("question") or "")
        context = turns_of(row.fields.get("turns"))
        *_, last = run(question, row.fields["answer"], settings, self.store, documents, context=context)
        assert isinstance(last, Finished)
        return last.report


def _documents(row: Row) -> tuple[Document, ...]:
    """The row's own sources: texts, or objects with a name and a text."""
    given = row.fields.get("documents") or []
    documents = []
    for number, one in enumerate(given if isinstance(given, list) else [None], 1):
        name, text = (one.get("name"), one.get("text")) if isinstance(one, dict) else (f"Document {number}", one)
        if not isinstance(text, str) or not isinstance(name, str):
            raise BadInput('"documents" is not a list of texts or of objects with "name" and "text"')
        documents.append(Document(name, text.encode(), "text/plain"))
    return tuple(documents)
