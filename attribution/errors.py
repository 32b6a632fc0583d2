"""One small tree of errors. A message says what was found, what was expected, and the next step."""

from __future__ import annotations

from attribution.types import Failure, FailureKind


class AttributionError(Exception):
    """Base of all errors this library raises on purpose. `detail` is what another library or a server said, on one
    line; it never holds a key."""

    def __init__(self, message: str, detail: object = "") -> None:
        super().__init__(message)
        self.detail = " ".join(str(detail).split())[:500]


class BadInput(AttributionError):
    """The question, answer, file or settings cannot be worked with."""


class BadSetting(BadInput):
    """A setting that does not exist, or a value that does not fit it."""

    def __init__(self, setting: str, reason: str) -> None:
        self.setting, self.reason = setting, reason
        super().__init__(f"setting {setting}: {reason}")


class UnknownName(BadInput):
    """A name that is in no table."""


class NotYours(BadInput):
    """A change of a run or result that belongs to somebody else, or that is no longer there."""


class Unavailable(AttributionError):
    """A package, key or model that is missing; the message says how to get it."""


class ModelUnavailable(Unavailable):
    """A hub model that cannot be loaded. `setting` takes a folder in its place, `alternative` needs no download."""

    def __init__(self, model: str, setting: str, alternative: str, error: Exception) -> None:
        self.model, self.setting, self.alternative = model, setting, alternative
        super().__init__(self.message(setting, f"`{alternative}`"), error)

    def message(self, setting: str, alternative: str) -> str:
        """What to do, with the names under which the reader knows the setting and the alternative."""
        return (
            f"the model {self.model} cannot be loaded: connect to the Hugging Face Hub once, or download it elsewhere "
            f"with `hf download {self.model}` and enter its folder as {setting}; {alternative} needs no download"
        )


class Busy(AttributionError):
    """More runs are waiting for their turn than the server takes."""


class Stopped(AttributionError):
    """Work that was ended on request, with nothing to show for it."""


class StoreError(AttributionError):
    """The database cannot be opened or is of a newer version."""


class StageFailure(AttributionError):
    """One search, page or pair that did not work; becomes a Failure of the report."""

    def __init__(self, kind: FailureKind, message: str, subject: str = "", *, detail: object = "") -> None:
        super().__init__(message, detail)
        self.kind = kind
        self.subject = subject

    def as_failure(self, stage: str, subject: str = "") -> Failure:
        subject = self.subject or subject
        return Failure(stage=stage, subject=subject, kind=self.kind, message=str(self), detail=self.detail)


class SearchFailed(StageFailure):
    """A search engine could not be used."""


class FetchFailed(StageFailure):
    """A page could not be fetched or read; `status` is that of the server's response, if it refused."""

    def __init__(
        self, kind: FailureKind, message: str, subject: str = "", status: int = 0, detail: object = ""
    ) -> None:
        super().__init__(kind, message, subject, detail=detail)
        self.status = status


class LlmFailed(StageFailure):
    """A prompt that a language model did not answer, or not in the requested form."""

    def __init__(self, message: str, subject: str = "", *, detail: object = "") -> None:
        super().__init__("llm_failed", message, subject, detail=detail)
