from __future__ import annotations

import pytest

from attribution.evidence.compounds import predicates


@pytest.mark.parametrize(
    ("claim", "parts"),
    [
        (
            "The firm was dissolved in 1948 and merged with a rival.",
            ("The firm was dissolved in 1948.", "The firm merged with a rival."),
        ),
        (
            "Ernst Wendt, who found the plant in 1911, was a botanist.",
            ("Ernst Wendt was a botanist.", "Ernst Wendt found the plant in 1911."),
        ),
        (
            "The plant was approved in 2023, but it was rejected in 2020.",
            (),
        ),  # what “it” is stands in the other part
        (
            "It was approved in 2023 and opened in 2024.",
            ("It was approved in 2023.", "It was opened in 2024."),
        ),
        ("The mill was built. It burned down.", ()),  # sentences are judged one by one anyway
        ("Die Mühle wurde 1768 gebaut und brannte 1801 ab.", ()),
    ],
)
def test_a_claim_is_cut_into_its_predicates(claim: str, parts: tuple[str, ...]) -> None:
    assert predicates(claim) == parts
