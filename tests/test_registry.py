import pytest

from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.tables import Entry, Need


def test_needs_are_checked_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry(
        "x:Y",
        "Y",
        needs=(
            Need("pip install no_such_package", package="no_such_package"),
            Need("set KEY_X", variable="KEY_X"),
        ),
    )
    assert entry.missing() == "pip install no_such_package; set KEY_X"
    monkeypatch.setenv("KEY_X", "1")
    assert entry.missing() == "pip install no_such_package"


@pytest.mark.parametrize(
    "choice", [{"top_k": "many"}, {"no_such": 1}, {"threshold": 2}, {"sources": ()}]
)
def test_a_setting_that_does_not_fit_is_named(choice: dict) -> None:
    with pytest.raises(BadInput, match=f"setting {next(iter(choice))}"):
        Settings.from_environment(**choice)
