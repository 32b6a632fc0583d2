"""The page over a database that is damaged while the server runs."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.pages.browser.conftest import free_port, serving
from tests.pages.browser.visits import MARKS, PATIENCE, Browser, expect, visit

pytestmark = MARKS


def test_a_damaged_database_is_one_line_on_every_page_and_no_traceback(
    browser: Browser, tmp_path: Path, warm_database: Path
) -> None:
    (tmp_path / "data").mkdir()
    database = Path(shutil.copy(warm_database, tmp_path / "data" / "attribution.sqlite3"))
    with serving(tmp_path, free_port()) as (address, _):
        page = visit(browser, address)
        database.write_bytes(b"\0" * database.stat().st_size)
        for name in ("", "history", "collections", "annotate"):
            page.goto(f"{address}/{name}")
            line = page.get_by_text(f"the database {database} is damaged").or_(
                page.get_by_text(f"The database {database} is damaged")
            )
            expect(line.first).to_be_visible(timeout=PATIENCE)
            assert "Traceback" not in page.content() and "OperationalError" not in page.content()
        page.context.close()
