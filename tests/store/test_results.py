from __future__ import annotations

from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.types import Report
from tests.make import page


def test_results_are_found_by_kind_and_id(store: Store) -> None:
    one, two, text = new_run_id(), new_run_id(), page("A text.")
    store.results.save("comparison", one, '{"rows": 0}')
    store.results.save("comparison", one, '{"rows": 1}', [text])
    store.results.save("grid", two, "[]", [text])
    assert store.results.load("comparison", one) == '{"rows": 1}' and store.results.load("grid", two) == "[]"
    assert store.results.load("grid", one) is None and store.results.load("comparison", "unknown") is None
    assert store.cache.page(text.url) is None  # the page of a result is no download
    report = Report(id="", created_at="", question="", answer="", settings={}, versions={}, pages=(text,))
    stored = Report.model_validate_json(report.to_json())
    assert stored.pages[0].text == "" and store.cache.with_texts(stored) == report
