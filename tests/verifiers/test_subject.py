"""What a claim is about."""

from __future__ import annotations

from attribution.verifiers.variants import keeps_subject


def test_another_subject_is_another_claim() -> None:
    assert keeps_subject("Paris is large.", "Paris is small.") and not keeps_subject(
        "Paris is large.", "Rome is large."
    )
