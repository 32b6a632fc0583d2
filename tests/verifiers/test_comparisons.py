from __future__ import annotations

import pytest

from attribution.verifiers.comparisons import holds

BORN = "Tom was born in 1950 and Anna in 1953."


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("Tom is older than Anna.", BORN, True),
        ("Anna is older than Tom.", BORN, False),
        ("Osen has fewer inhabitants than Lorne.", "Osen has 900 inhabitants, Lorne 700.", False),
        (
            "The rent is higher in Osen than in Lorne.",
            "The rent is 900 euros in Osen, 700 in Lorne.",
            True,
        ),
        ("Osen has more houses than Lorne.", "Osen had 900 houses, and 700 in 1970.", None),
        ("Osen has more houses than Lorne.", "Osen has 900 houses, Lorne 12 kilometres.", None),
        ("Osen has more houses than Lorne.", "Osen lost 900 houses, Lorne 700.", None),
        ("Osen has more than 40 houses.", "Osen had 900 houses, Lorne 700.", None),
        ("Anna is older than Tom.", "Tom joined in 1950 and Anna in 1953.", None),
    ],
)
def test_a_comparison_is_held_against_two_values(
    claim: str, passage: str, expected: bool | None
) -> None:
    assert holds(claim, passage) is expected
