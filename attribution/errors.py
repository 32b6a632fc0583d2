"""All exceptions. A message says what was found, what was expected and what to do next."""

from __future__ import annotations

from attribution.types import Failure, FailureKind


class AttributionError(Exception):
    """Base class of the errors this library raises on purpose."""


class BadInput(AttributionError):
    """The question, answer, file or settings cannot be used."""


class UnknownName(BadInput):
    """A name that is not in its table."""


class Unavailable(AttributionError):
    """A package, key or model is missing; the message says how to get it."""


class StoreError(AttributionError):
    """The database cannot be opened, or a newer version made it."""


class StageFailure(AttributionError):
    """One search, page or pair failed; becomes a Failure in the report."""

    def __init__(self, kind: FailureKind, message: str, subject: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.subject = subject

    def as_failure(self, stage: str, subject: str = "") -> Failure:
        return Failure(stage=stage, subject=self.subject or subject, kind=self.kind, message=str(self))


class SearchFailed(StageFailure):
    """A search engine could not be used."""


class FetchFailed(StageFailure):
    """A page could not be fetched or read."""


class LlmFailed(StageFailure):
    """A language model did not reply, or not in the requested form."""

    def __init__(self, message: str, subject: str = "") -> None:
        super().__init__("llm_failed", message, subject)
