from __future__ import annotations

from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.types import Report
from tests.make import page


def test_results_are_found_by_kind_and_id(store: Store) -> None:
    one, two, text = new_run_id(), new_run_id(), page("A text.")
    store.save_result("comparison", one, '{"rows": 0}')
    store.save_result("comparison", one, '{"rows": 1}', [text])
    store.save_result("grid", two, "[]", [text])
    assert store.load_result("comparison", one) == '{"rows": 1}' and store.load_result("grid", two) == "[]"
    assert store.load_result("grid", one) is None and store.load_result("comparison", "unknown") is None
    assert store.page(text.url) is None  # the page of a result is no download
    report = Report(id="", created_at="", question="", answer="", settings={}, versions={}, pages=(text,))
    stored = Report.model_validate_json(report.to_json())
    assert stored.pages[0].text == "" and store.with_texts(stored) == report
