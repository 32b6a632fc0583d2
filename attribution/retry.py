"""One policy for services that fail for a while: more attempts after growing pauses, within a
deadline.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    wait_exponential_jitter,
)

FIRST_PAUSE = 0.6  # seconds; each pause is twice the last one
LONGEST_PAUSE = 30.0  # a service that asks for a longer one is given up
T = TypeVar("T")


class Transient(Exception):
    """A failure that may be over at the next attempt; `after` is the seconds that the service asks
    to wait.
    """

    def __init__(self, message: str, after: float = 0.0, detail: object = "") -> None:
        super().__init__(message)
        self.after, self.detail = after, detail
        self.attempts = 1

    @property
    def tried(self) -> str:
        return "once" if self.attempts == 1 else f"{self.attempts} times"


def retrying(
    attempt: Callable[[float], T], retries: int, seconds: float, stop: threading.Event | None = None
) -> T:
    """Return the result of the first attempt that succeeds.

    Args:
        attempt: Gets the seconds that are left.
        retries: Attempts after the first one.
        seconds: For all attempts and pauses.
        stop: Ends a pause; the attempt that follows has to look at it.

    Raises:
        Transient: That of the last attempt, if none succeeded.
    """
    end = time.monotonic() + seconds
    backoff = wait_exponential_jitter(
        multiplier=FIRST_PAUSE, max=LONGEST_PAUSE, jitter=FIRST_PAUSE / 4
    )

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return max(backoff(state), error.after if isinstance(error, Transient) else 0.0)

    def over(state: RetryCallState) -> bool:
        return state.attempt_number > retries or state.upcoming_sleep > min(
            LONGEST_PAUSE, end - time.monotonic()
        )

    policy = Retrying(
        retry=retry_if_exception_type(Transient),
        wait=pause,
        stop=over,
        sleep=sleep_using_event(stop or threading.Event()),
        reraise=True,
    )
    try:
        return policy(lambda: attempt(max(0.05, end - time.monotonic())))
    except Transient as error:
        error.attempts = policy.statistics["attempt_number"]
        raise


def retry_after(header: str) -> float:
    """Return Retry-After as seconds from now (RFC 9110, 10.2.3); 0 if it says nothing."""
    text = header.strip()
    if text.isdecimal() and text.isascii():
        return min(float(text[:9]), 1e9)
    try:
        when = parsedate_to_datetime(text)
        return max(
            0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
        )
    except (ValueError, TypeError, OverflowError):
        return 0.0
