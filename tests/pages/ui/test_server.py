"""What is prepared for the first visitor while the server starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

PREPARED = """
import sys
from pages.ui.server import prepare_first_page
prepare_first_page()
print("pages.explore" in sys.modules, "pandas" in sys.modules)
"""


@pytest.mark.parametrize("database", [pytest.param("", marks=pytest.mark.slow), "nonsense://"])
def test_the_first_page_is_prepared_and_a_database_that_cannot_be_opened_is_left_to_the_page(
    tmp_path: Path, database: str
) -> None:
    environment = {**os.environ, "ATTRIBUTION_DATA": str(tmp_path), "ATTRIBUTION_DATABASE_URL": database}
    command = [sys.executable, "-c", PREPARED]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["True", "False"]
    assert any(tmp_path.iterdir()) == (not database)
