from pathlib import Path

import pytest

from tests.pages.browser.visits import MARKS, PATIENCE, Browser, expect
from tests.serve import serving

pytestmark = MARKS


@pytest.mark.slow
def test_a_damaged_database_is_one_line_without_its_path_on_the_pages_that_read_it(
    browser: Browser, tmp_path: Path
) -> None:
    database = tmp_path / "data" / "attribution.sqlite3"
    database.parent.mkdir()
    database.write_bytes(b"\0" * 50_000)
    with serving(tmp_path) as served:
        page = browser.new_page()
        saved = ("check?run=0123456789abcdef", "research?benchmark=0123456789abcdef")
        for name in ("answers", "research?study=annotation", *saved):
            page.goto(f"{served.url}/{name}")
            line = page.get_by_text("the database is damaged or no SQLite database: move it away")
            expect(line.first).to_be_visible(timeout=PATIENCE)
            assert "Traceback" not in page.content()
            assert "StoreError" not in page.inner_text("body")
            assert str(tmp_path) not in page.content()
        page.close()
