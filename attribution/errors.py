"""One small tree of errors. A message says what was found, what was expected, and the next step."""

from __future__ import annotations

from attribution.types import Failure, FailureKind


class AttributionError(Exception):
    """Base of all errors this library raises on purpose."""


class BadInput(AttributionError):
    """The question, answer, file or settings cannot be worked with."""


class UnknownName(BadInput):
    """A name that is in no table."""


class Unavailable(AttributionError):
    """A package, key or model that is missing; the message says how to get it."""


class StoreError(AttributionError):
    """The database cannot be opened or is of a newer version."""


class StageFailure(AttributionError):
    """One search, page or pair that did not work; becomes a Failure of the report."""

    def __init__(self, kind: FailureKind, message: str, subject: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.subject = subject

    def as_failure(self, stage: str, subject: str = "") -> Failure:
        return Failure(stage=stage, subject=self.subject or subject, kind=self.kind, message=str(self))


class SearchFailed(StageFailure):
    """A search engine could not be used."""


class FetchFailed(StageFailure):
    """A page could not be fetched or read; `status` is that of the server's response, if it refused."""

    def __init__(self, kind: FailureKind, message: str, subject: str = "", status: int = 0) -> None:
        super().__init__(kind, message, subject)
        self.status = status


class LlmFailed(StageFailure):
    """A prompt that a language model did not answer, or not in the form that was asked for."""

    def __init__(self, message: str, subject: str = "") -> None:
        super().__init__("llm_failed", message, subject)
