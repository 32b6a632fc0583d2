"""The web app's server, and what the first page needs, prepared while it starts and a browser
loads.

python -m pages.ui.server --host ADDRESS --port PORT
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from attribution.errors import AttributionError
from attribution.server_settings import share_heaps
from attribution.settings import ROOT, Settings

if TYPE_CHECKING:  # imported where the server starts
    from attribution.server.limits import UploadedFiles

# of the pages: no image from elsewhere
POLICY = "base-uri 'self'; object-src 'none'; img-src 'self' data: blob:"


def prepare_first_page() -> None:
    """Do what the first visitor would wait for."""
    importlib.import_module("pages.check")
    inspect.stack()  # fills a cache: the first element that Streamlit draws asks for the stack
    with suppress(AttributionError):  # the page reports it
        from attribution.store.store import Store

        url = Settings.from_environment().database_url
        if Store.open(url).queue.next():  # a server before this one has left answers unchecked
            from attribution.pipeline.queued_runs import queue_worker

            queue_worker(url).wake()


def serve(host: str, port: int) -> None:
    """Serve the web app until a signal ends it. Every request passes the middleware, the first one
    outermost.
    """
    import streamlit as st
    import uvicorn
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from streamlit.runtime.pages_manager import PagesManager

    from attribution.fair_queue import turns
    from attribution.server.limits import Config, SocketLimits, StreamlitLimits
    from attribution.server.middleware import BrowserCookie, ProtectedReplies, host_names
    from pages.ui.state import COOKIE

    # Ctrl+C ends it as SIGTERM does, without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Streamlit puts this script's folder before all others to import from
    sys.argv = [str(ROOT / "app.py")]
    PagesManager.uses_pages_directory = False  # app.py names the pages, for the first visitor too
    middleware = [
        Middleware(ProtectedReplies, policy=POLICY),
        Middleware(TrustedHostMiddleware, allowed_hosts=host_names(host), www_redirect=False),
        Middleware(SocketLimits),
        Middleware(BrowserCookie, name=COOKIE, on_visit=turns().locate),
        Middleware(StreamlitLimits, files=_uploaded_files),
    ]
    # Streamlit makes the server itself, without limits
    uvicorn.Config = Config  # type: ignore[misc, assignment]
    app = st.App(ROOT / "app.py", middleware=middleware, on_script_error=_show)
    app.run(config={"server.address": host, "server.port": port})


def _uploaded_files() -> UploadedFiles:
    from streamlit.runtime import Runtime
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

    files = Runtime.instance().uploaded_file_mgr
    assert isinstance(files, MemoryUploadedFileManager)
    return files


def _show(error: Exception) -> bool:
    from pages.ui.frame import show_setup_error  # what draws is imported where a page is drawn

    return show_setup_error(error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    args = parser.parse_args()
    share_heaps()
    threading.Thread(target=prepare_first_page, daemon=True).start()
    serve(args.host, args.port)


if __name__ == "__main__":  # the processes that this one starts import the file too
    main()
