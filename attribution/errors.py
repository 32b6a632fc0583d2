"""The error classes. A message says what was found, what was expected, and the next step."""

from __future__ import annotations

import errno
import logging
import re

from attribution.types import Failure, FailureKind

_log = logging.getLogger(__name__)
_PATH = re.compile(
    r"(?<![\w/:.])(?:(?:sqlite|file):/{0,3}|[A-Za-z]:)?[/\\]{1,2}[\w.@+~-]++"
    r"(?:[/\\]++[\w.@+~-]*+)++",
    re.IGNORECASE,
)


def without_paths(text: str) -> str:
    """Return the words of another library without the files of this machine that they name;
    addresses stay.
    """
    return _PATH.sub("…", text)


class AttributionError(Exception):
    """Base class of all errors that this library raises on purpose.

    `detail` is the message of another library or a server, on one line; it never holds a key.
    """

    def __init__(self, message: str, detail: object = "") -> None:
        super().__init__(message)
        self.detail = " ".join(str(detail).split())[:500]

    def public(self) -> str:
        """Return the message for visitors and clients of a server."""
        return str(self)


class BadInput(AttributionError):
    """An unusable question, answer, file or setting."""


class BadSetting(BadInput):
    """A setting that does not exist, or a value that does not fit it."""

    def __init__(self, setting: str, reason: str) -> None:
        self.setting, self.reason = setting, reason
        super().__init__(f"setting {setting}: {reason}")


class UnknownName(BadInput):
    """A name that is not in its table."""


class NotYours(BadInput):
    """A change to a run or result that belongs to another owner or no longer exists."""


class Unavailable(AttributionError):
    """A package, key or model that is missing; the message says how to get it."""


class ModelUnavailable(Unavailable):
    """A hub model that cannot be loaded. `setting` takes a folder instead, `alternative` needs no
    download.

    `again` says what to do if the model is already on this machine.
    """

    def __init__(
        self, model: str, setting: str, alternative: str, error: Exception, again: str = ""
    ) -> None:
        self.model, self.setting, self.alternative, self.again = model, setting, alternative, again
        super().__init__(self.message(setting, f"`{alternative}`"), error)

    def message(self, setting: str, alternative: str) -> str:
        """Return the message, with the names by which the reader knows the setting and the
        alternative.
        """
        step = self.again or (
            "connect to the Hugging Face Hub once, or download it elsewhere "
            f"with `hf download {self.model}` and enter its folder as {setting}"
        )
        return f"the model {self.model} cannot be loaded: {step}; {alternative} needs no download"


class Busy(AttributionError):
    """A request beyond the number of waiting runs that the server accepts."""


class Stopped(AttributionError):
    """Work that was stopped on request, without a result."""


class StoreError(AttributionError):
    """A database or disk that cannot be read or written: full, damaged, locked, read-only or of a
    newer version.

    `hidden` are the parts of the message that name a file or server of the operator.
    """

    def __init__(self, message: str, detail: object = "", *hidden: str) -> None:
        super().__init__(message, detail)
        self._hidden = hidden

    def public(self) -> str:
        """Return the message without names of files and servers; log all of it for the operator."""
        message = str(self)
        _log.error("%s [%s]", message, self.detail)
        for part in self._hidden:
            message = message.replace(part, "")
        return message


class StageFailure(AttributionError):
    """A failure of one search, page or pair; it becomes a Failure in the report."""

    def __init__(
        self, kind: FailureKind, message: str, subject: str = "", *, detail: object = ""
    ) -> None:
        super().__init__(message, detail)
        self.kind = kind
        self.subject = subject

    def as_failure(self, stage: str, subject: str = "") -> Failure:
        subject = self.subject or subject
        return Failure(
            stage=stage, subject=subject, kind=self.kind, message=str(self), detail=self.detail
        )


class SearchFailed(StageFailure):
    """A search engine that could not be used."""


class FetchFailed(StageFailure):
    """A page that could not be fetched or read; `status` is the HTTP status of the server's
    response, if it refused.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        subject: str = "",
        status: int = 0,
        detail: object = "",
    ) -> None:
        super().__init__(kind, message, subject, detail=detail)
        self.status = status


class LlmFailed(StageFailure):
    """A prompt that a language model did not answer, or not in the requested form."""

    def __init__(self, message: str, detail: object = "") -> None:
        super().__init__("llm_failed", message, detail=detail)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FAILING = (errno.EIO, errno.EROFS)


def setup_error(error: BaseException) -> AttributionError | None:
    """Return the problem of the disk or the installation that caused an error, with the remedy;
    None if neither did.

    Such an error does not concern a single page or claim, so it ends the run.
    """
    match error:
        case StoreError() | Unavailable():
            return error
        case OSError() if error.errno in (*_FULL, *_FAILING):
            step = "free some space" if error.errno in _FULL else "check the disk"
            place = f" {error.filename}" if error.filename else ""
            return StoreError(
                f"the file{place} cannot be written ({error.strerror}): {step}, then try again",
                error,
                place,
            )
        case ImportError() if not (error.name or "").startswith(("attribution", "pages")):
            reason = " ".join(str(error).split())[:200]
            return Unavailable(
                f"a package is missing or damaged ({reason}): install it again with "
                "`pip install --force-reinstall -r requirements.txt`",
                error,
            )
    return None
