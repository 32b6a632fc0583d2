"""The language of an answer: certain, or not told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.sentences import LANGUAGES, detect, is_english


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The tower was finished in 1889 and stands in Paris.", "en"),
        ("Er wurde 1899 in Essex geboren und starb 1980.", "de"),
        ("Il est né en 1899 à Leytonstone et mort en 1980.", "fr"),
        ("Он родился в 1899 году и умер в 1980 году.", "ru"),
        ("这是书。那也是。", "zh"),
        ("これは本です。", "ja"),
        ("هذا كتاب قديم جدا.", "ar"),
        ("यह किताब है। वह भी।", "hi"),
        ("นี่คือหนังสือเล่มเก่า", "th"),
        ("Psycho", None),
        ("Kyoto, Osaka, Tokyo", None),
        ("1960 | 5,895 m", None),
        ("", None),
    ],
)
def test_a_language_is_named_only_where_it_is_certain(text: str, code: str | None) -> None:
    assert detect(text) == code
    assert is_english(text) == (code in (None, "en"))


@given(st.text(max_size=200))
def test_any_text_has_a_known_language_or_none(text: str) -> None:
    assert detect(text) in (None, *LANGUAGES)
