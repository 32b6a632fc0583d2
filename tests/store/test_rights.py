from collections.abc import Callable

import pytest

from attribution.errors import BadInput
from attribution.store.store import Store
from attribution.types import Document
from tests.make import page, report, save_run

LONG = "A sentence of a page. " * 60_000  # 1.3 MB
RUN = report("The tower was finished in 1889.", id="0" * 16)
Change = Callable[[Store], object]


def with_documents(store: Store) -> None:
    store.runs.start(RUN)
    store.runs.save_documents(RUN.id, [Document("a.txt", LONG.encode())])


def run(number: int) -> Change:
    return lambda store: store.runs.start(report(id=f"{number:016}"))


def result(number: int) -> Change:
    return lambda store: store.results.save("grid", f"{number:016}", "[]")


TAKING: dict[str, Change] = {
    "page": lambda store: save_run(store, RUN.model_copy(update={"pages": (page(LONG),)})),
    "documents": with_documents,
    "answer": lambda store: save_run(store, RUN.model_copy(update={"answer": LONG})),
    "result": lambda store: store.results.save("grid", "1" * 16, LONG),
}
ADDING: list[Change] = [run(2), result(3), lambda store: store.runs.copy("a" * 16)]


def store_at(store: Store, owner: str, number: int) -> Store:
    return Store(store.database, owner, address=f"192.0.2.{number}")


@pytest.mark.parametrize("take", TAKING.values(), ids=TAKING)
def test_an_address_that_takes_too_much_of_the_disk_can_save_nothing_new(
    take: Change, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTRIBUTION_ADDRESS_MB", "1")
    own, other_browser = store_at(store, "own", 1), store_at(store, "other", 1)
    far = store_at(store, "far", 2)
    save_run(far, report(id="a" * 16))
    take(own)
    worker = Store(store.database, owner=own.rights.owner)
    for add in ADDING:
        for owner in (own, other_browser, worker):
            with pytest.raises(BadInput, match="take 1 MB of this server's disk, and may take 1"):
                add(owner)
    result(4)(far)
    run(5)(store)  # the command line has no limit
    if own.rights.access(RUN.id).own:
        own.runs.delete(RUN.id)
        run(2)(own)
