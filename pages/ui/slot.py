"""Keep the state of one page's result in this session: its job, the result to show, and why one cannot be shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from attribution.errors import AttributionError
from attribution.settings import Settings
from attribution.store.store import Store
from pages.ui import background, state

J = TypeVar("J", bound=background.Stoppable)  # the job
P = TypeVar("P")  # the result
T = TypeVar("T")


def store() -> Store:
    """Open the database for this browser. Call it in the session; the store can be used in any thread."""
    return Store.open(Settings.from_environment().database_url, by=state.browser())


def unowned_store() -> Store:
    """Open the database without an owner: for models, and for runs within a comparison, which no browser lists."""
    return Store.open(Settings.from_environment().database_url)


def saved(load: Callable[[Store], T | None]) -> tuple[T | None, str]:
    """Load a saved result; return None, and why it cannot be shown, if that fails."""
    try:
        result = load(store())
    except AttributionError as error:
        return None, str(error)
    except ValueError:  # pydantic's ValidationError is one
        return None, "it was saved by another version of the explorer."
    return result, "" if result else "it is not in this server's database."


class Slot(Generic[J, P]):
    """The job and result of one page; `name` is part of its keys in the session state."""

    def __init__(self, name: str) -> None:
        self._name = name

    def job(self) -> J | None:
        """Return the job that computes, or has computed, the result."""
        job: J | None = state.get(self._name)
        return job

    def start(self, job: J | None) -> None:
        if job is not None:
            background.claim(job, state.browser())
        state.put(self._name, job)
        self.refuse("")

    def shown(self) -> P | None:
        """Return the result to show if there is no job."""
        shown: P | None = state.get(f"shown_{self._name}")
        return shown

    def show(self, result: P | None) -> None:
        state.put(f"shown_{self._name}", result)

    def notice(self) -> str:
        """Return why a saved result cannot be shown; empty if it can."""
        return str(state.get(f"{self._name}_notice") or "")

    def refuse(self, reason: str) -> None:
        state.put(f"{self._name}_notice", reason)

    def running(self, id: str) -> J | None:
        """Return this process's job that is computing a result, and show it from now on."""
        job: J | None = background.find(id)
        if job:
            self.start(job)
        return job

    def saved(self, load: Callable[[Store], T | None]) -> T | None:
        """Load a saved result; None, with a notice, if it cannot be shown."""
        result, reason = saved(load)
        self.refuse(reason)
        return result

    def owns(self, parameter: str) -> bool:
        """Return True if the result in this parameter of the address may be changed here, or there is none."""
        result_id = state.address(parameter).get(parameter)
        return not result_id or store().access(result_id).own

    def copy(self, parameter: str, load: Callable[[str], None]) -> None:
        """Copy the result in this parameter of the address, and show the copy, which belongs to this browser."""
        result_id = store().copy_result(state.address(parameter)[parameter])
        self.start(None)
        state.show_address(**{parameter: result_id})
        load(result_id)

    def stop(self) -> None:
        """End the job with the results it has; a job of another browser continues, but is no longer shown."""
        if (job := self.job()) is None:
            return
        if self.is_own():
            job.stop()
        else:
            self.start(None)
            self.show(None)

    def is_own(self) -> bool:
        """Return False while a job of another browser is running."""
        job = self.job()
        return job is None or not job.running or background.starter(job) == state.browser()

    def is_running(self) -> bool:
        job = state.get(self._name)
        return job is not None and bool(job.running)
