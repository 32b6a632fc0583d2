from __future__ import annotations

import json

from attribution.verifiers import VERIFIERS, reliability


def test_figures_are_of_verifiers_there_are_and_few_badges_tell_nothing() -> None:
    figures = json.loads(reliability.FILE.read_text(encoding="utf-8"))
    assert set(figures) <= set(VERIFIERS)
    right, shown = figures["embedded-base"]["supported"]
    assert 0 < right <= shown
    assert reliability.reliability("embedded-base/abc.1", "supported").startswith(f"{right} of {shown} were right")
    assert reliability.reliability("embedded/2", "supported").startswith(str(figures["embedded-small"]["supported"][0]))
    assert "too few" in reliability.reliability("embedded-base/abc.1", "contradicted")
    assert reliability.reliability("deberta/owner/name", "supported") == ""
    assert reliability.reliability("embedded-base/abc.1", "unclear") == ""
