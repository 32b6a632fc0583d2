"""Streamlit's command line, and what the first page needs, prepared while the server starts and a browser loads.

python -m pages.ui.server run app.py …
"""

from __future__ import annotations

import ast
import inspect
import threading
from contextlib import suppress

from attribution.errors import AttributionError
from attribution.settings import ROOT, Settings


def prepare_first_page() -> None:
    """Do what the first visitor would wait for."""
    tree = ast.parse((ROOT / "pages" / "explore.py").read_text("utf-8"))
    imports: list[ast.stmt] = [line for line in tree.body if isinstance(line, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(imports, []), "imports of the first page", "exec"), {})
    inspect.stack()  # fills a cache: the first element that Streamlit draws asks for the stack
    with suppress(AttributionError):  # the page reports it
        from attribution.storage.store import Store

        Store.open(Settings.from_environment().database_url)


if __name__ == "__main__":  # streamlit is not for the processes that this one starts, which import the file too
    from streamlit.web import cli

    threading.Thread(target=prepare_first_page, daemon=True).start()
    cli.main(prog_name="streamlit")
