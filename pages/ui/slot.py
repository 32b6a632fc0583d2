"""What one page computes and shows in this session: its job, the result to show, why a saved one cannot be shown."""

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
    """The database in the name of this browser: asked for in the session, it can be used in any thread."""
    return Store.open(Settings.from_environment().database_url, by=state.browser())


def unowned_store() -> Store:
    """The database in nobody's name: for models, and runs that are parts of a comparison, which no browser lists."""
    return Store.open(Settings.from_environment().database_url)


def saved(load: Callable[[Store], T | None]) -> tuple[T | None, str]:
    """A saved result; or None, and why it cannot be shown."""
    try:
        result = load(store())
    except AttributionError as error:
        return None, str(error)
    except ValueError:  # pydantic's ValidationError is one
        return None, "it was saved by another version of the explorer."
    return result, "" if result else "it is not in this server's database."


class Slot(Generic[J, P]):
    """`name` is part of its keys in the session state."""

    def __init__(self, name: str) -> None:
        self._name = name

    def job(self) -> J | None:
        """The job that computes the result, or has computed it."""
        job: J | None = state.get(self._name)
        return job

    def start(self, job: J | None) -> None:
        if job is not None:
            background.claim(job, state.browser())
        state.put(self._name, job)
        self.refuse("")

    def shown(self) -> P | None:
        """The result to show where there is no job."""
        shown: P | None = state.get(f"shown_{self._name}")
        return shown

    def show(self, result: P | None) -> None:
        state.put(f"shown_{self._name}", result)

    def notice(self) -> str:
        """Why a saved result cannot be shown; empty where it can."""
        return str(state.get(f"{self._name}_notice") or "")

    def refuse(self, reason: str) -> None:
        state.put(f"{self._name}_notice", reason)

    def running(self, id: str) -> J | None:
        """The job of this process that is computing a result; it is shown from now on."""
        job: J | None = background.find(id)
        if job:
            self.start(job)
        return job

    def saved(self, load: Callable[[Store], T | None]) -> T | None:
        """A saved result; None, with a notice, where it cannot be shown."""
        result, reason = saved(load)
        self.refuse(reason)
        return result

    def owns(self, parameter: str) -> bool:
        """Whether the result that this parameter of the address names may be changed here."""
        result_id = state.address(parameter).get(parameter)
        return not result_id or store().access(result_id).own

    def copy(self, parameter: str, load: Callable[[str], None]) -> None:
        """Show a copy of the result that this parameter of the address names; it belongs to this browser."""
        result_id = store().copy_result(state.address(parameter)[parameter])
        self.start(None)
        state.show_address(**{parameter: result_id})
        load(result_id)

    def stop(self) -> None:
        """End the job with the results it has; one that another browser has started goes on and is no longer shown."""
        if (job := self.job()) is None:
            return
        if self.is_own():
            job.stop()
        else:
            self.start(None)
            self.show(None)

    def is_own(self) -> bool:
        """False while a job goes on that another browser has started."""
        job = self.job()
        return job is None or not job.running or background.starter(job) == state.browser()

    def is_running(self) -> bool:
        job = state.get(self._name)
        return job is not None and bool(job.running)
