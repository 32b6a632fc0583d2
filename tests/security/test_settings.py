from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import BadSetting
from attribution.pipeline.permissions import (
    allowed_models,
    demanded,
    of_saved_run,
)
from attribution.settings import ADDRESS, KEY, PRIVATE, TRUST, Settings, Trust, trusted

PATHS = (
    "/etc",
    "/etc/passwd",
    "~",
    ".",
    "README.md",
    "examples/library",
    "file:///etc/passwd",
    "C:\\Users",
    "\\\\host\\x",
)
NAMES = st.sampled_from([*Settings.model_fields, ADDRESS, KEY, "model", "no_such_setting"])
NUMBERS = st.one_of(st.integers(-(10**15), 10**15), st.floats(), st.just(10**13), st.just(1e9))
TEXTS = st.one_of(
    st.sampled_from([*PATHS, "searxng:file:///etc", "searxng:/etc", "collection:x", "web"]),
    st.text(),
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        NUMBERS,
        TEXTS,
        st.text(st.characters(categories=["Cs"]), max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


def test_every_setting_says_who_may_choose_it() -> None:
    assert TRUST.keys() == {*Settings.model_fields, ADDRESS, KEY}


@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_whatever_a_stranger_asks_for_it_names_no_path_and_exceeds_no_limit(
    asked: dict[str, Any],
) -> None:
    own = Settings()
    filtered = of_saved_run(asked, own, *get_args(Trust))
    for made in (filtered, Settings(**dict(filtered))):
        assert not [
            s for s in made.sources if s in PATHS or "://" not in s and "/" in s or "file:" in s
        ]
        for name in trusted("limit"):
            assert getattr(made, name) <= getattr(own, name)
        for name in trusted("model"):
            assert getattr(made, name) in ("", *allowed_models())
        for name in (*trusted("operator"), *trusted("session"), *PRIVATE - {ADDRESS, KEY}):
            assert getattr(made, name) == getattr(own, name)


@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_what_is_demanded_is_had_or_refused(asked: dict[str, Any]) -> None:
    own = Settings()
    try:
        made = demanded(asked, own)
    except BadSetting as error:
        assert error.setting in asked
        assert "\n" not in str(error)
    else:
        assert all(
            getattr(made, name) == getattr(Settings(**{name: value}), name)
            for name, value in asked.items()
        )


@pytest.mark.parametrize("source", [*PATHS, "searxng:file:///etc", "searxng:ftp://x", "gopher://x"])
def test_no_source_of_a_stranger_is_a_file_or_a_folder(source: str) -> None:
    own = Settings()
    alone, beside = [source], [source, "library"]
    # nothing to search, rather than another
    assert of_saved_run({"sources": alone}, own, "sources").sources == ("documents",)
    assert of_saved_run({"sources": beside}, own, "sources").sources == ("library",)
    with pytest.raises(BadSetting, match="cannot be read here"):
        of_saved_run({"sources": ["library", source]}, own)
    with pytest.raises(BadSetting, match="sources"):
        demanded({"sources": [source]}, own)
