import os
import sys

import pytest

from pages.ui.server import prepare_first_page


@pytest.mark.parametrize("database", ["", "nonsense://"])
def test_the_first_page_is_prepared_and_a_database_that_cannot_be_opened_is_left_to_the_page(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTRIBUTION_DATABASE_URL", database)
    prepare_first_page()
    assert "pages.check" in sys.modules
    assert os.path.exists(os.environ["ATTRIBUTION_DATA"]) == (not database)
