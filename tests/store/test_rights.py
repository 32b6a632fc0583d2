from collections.abc import Callable

import pytest

from attribution.errors import BadInput
from attribution.store.store import Store
from attribution.types import Document, Provenance
from tests.make import page
from tests.review.make import claim, report

ANSWER = "The tower was finished in 1889."
RUN = report(ANSWER, (claim(ANSWER, ANSWER), "supported"))
LONG = "A sentence of a page. " * 60_000  # 1.3 MB


def with_page(store: Store) -> None:
    source = page(LONG)
    store.cache.put_pages([source])
    store.runs.save(RUN.model_copy(update={"pages": (source,), "evidence": ()}), Provenance())


def with_documents(store: Store) -> None:
    store.runs.start(RUN.id, "", ANSWER, {})
    store.runs.save_documents(RUN.id, [Document("a.txt", LONG.encode())])


TAKING: list[Callable[[Store], object]] = [
    with_page,
    with_documents,
    lambda store: store.runs.save(RUN.model_copy(update={"answer": LONG})),
    lambda store: store.results.save("grid", "1" * 16, LONG),
]


@pytest.mark.parametrize("take", TAKING)
def test_an_owner_who_takes_too_much_of_the_disk_can_save_nothing_new(
    take: Callable[[Store], object], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTRIBUTION_OWNER_MB", "1")
    own, other, operator = (Store(store.database, by) for by in ("own", "other", ""))
    other.runs.save(RUN.model_copy(update={"id": "a" * 16}))
    take(own)
    news: list[Callable[[Store], object]] = [
        lambda store: store.runs.start("b" * 16, "", ANSWER, {}),
        lambda store: store.runs.copy("a" * 16),
        lambda store: store.results.save("grid", "c" * 16, "[]"),
    ]
    for new in news:
        with pytest.raises(
            BadInput, match="take 1 MB of this server's disk, and one owner may use 1: delete some"
        ):
            new(own)
    other.results.save("grid", "d" * 16, "[]")
    operator.runs.start("e" * 16, "", ANSWER, {})
    if own.rights.access(RUN.id).own:
        own.runs.delete(RUN.id)
        own.runs.start("b" * 16, "", ANSWER, {})
