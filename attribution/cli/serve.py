"""`serve`: the web app or the API; `mcp`: the MCP server; `download`: models ahead of their first
use.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys

from attribution.cli import options
from attribution.cli.options import Add, progress, tables
from attribution.errors import BadInput, UnknownName
from attribution.settings import ROOT, Settings
from attribution.tables import load

PORT, API_PORT = 8501, 8502


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("download", "get the model of an implementation ahead of its first use", download)
    p.add_argument("name", help="see: list; those with a model to download or to make")
    p.add_argument(
        "--model",
        help="another model than the default, where the implementation takes one: owner/name",
    )

    p = add("serve", "start the web app, or the API", serve)
    p.add_argument(
        "--port", type=int, help=f"by default {PORT} (API: {API_PORT}), or the next free port"
    )
    p.add_argument("--host", default="localhost", help="the address to listen at; 0.0.0.0 for all")
    p.add_argument(
        "--api", action="store_true", help="serve the REST API and MCP in its place (docs/api.md)"
    )
    options.add_verifier(p, "max_pages=50")
    p = add("mcp", "serve the MCP tools over standard input and output", mcp)
    options.add_verifier(p, "max_pages=50")


def is_free(port: int) -> bool:
    """Return True if a server can listen on the port. Closing connections of an earlier server do
    not count.
    """
    with socket.socket() as probe:
        if os.name == "posix":  # elsewhere the option would let two servers share the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port(first: int) -> int:
    """Return the first free port from `first` on."""
    port = next((port for port in range(first, min(first + 50, 65_536)) if is_free(port)), None)
    if port is None:
        raise BadInput(f"no free port from {first} on: choose one with --port")
    return port


def serve(args: argparse.Namespace) -> None:
    """Replace this process by the Streamlit server, so that signals reach it; or serve the API."""
    if not args.api and options.choices(args):
        raise BadInput(
            "--verifier and --set are for --api; in the web app they are chosen in the page"
        )
    port = _port(args.port, API_PORT if args.api else PORT)
    if args.api:
        return _api(options.settings(args), args.host, port)
    from attribution.server.middleware import host_names

    host_names(args.host)  # raises an error for a host that the web app could not start with
    print(f"Attribution explorer: http://localhost:{port}", flush=True)
    command = [sys.executable, "-m", "pages.ui.server", "--host", args.host, "--port", str(port)]
    os.chdir(ROOT)
    os.environ.setdefault(
        "MALLOC_ARENA_MAX", "2"
    )  # glibc: with more, threads keep 60 MB that they have freed
    os.execv(sys.executable, command)


def _port(asked: int | None, default: int) -> int:
    if asked is not None and not 0 < asked < 65_536:
        raise BadInput(f"port {asked}: expected a number from 1 to 65535")
    if asked is not None and not is_free(asked):
        raise BadInput(
            f"port {asked} is in use: stop the program that uses it, or choose another --port"
        )
    return asked or free_port(default)


def _api(settings: Settings, host: str, port: int) -> None:
    from attribution.pipeline.run import turns
    from attribution.server.api import Server, create
    from attribution.server.guard import Keys
    from attribution.server.limits import Config
    from attribution.server.middleware import host_names
    from attribution.server.work import Work

    _log_plainly()
    work = Work(turns())
    app = create(settings, Keys.from_environment(), host_names(host), work)
    config = Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=5,
    )
    print(f"Attribution API: http://{host}:{port} (what it offers: /docs)", flush=True)
    _end_by_signals()  # after uvicorn has ended its work
    Server(config, work).run()


def _end_by_signals() -> None:
    """Let signals end the process by themselves, at once and without a traceback."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _log_plainly() -> None:
    """Log to standard error, by a handler that opens no file: that of the MCP package does, where
    none is set.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(name)s: %(message)s")


def mcp(args: argparse.Namespace) -> None:
    """Serve the MCP tools over standard input and output."""
    from attribution.pipeline.run import turns
    from attribution.server.mcp import server
    from attribution.server.work import Work

    _log_plainly()
    made = server(options.settings(args), Work(turns()))
    # the thread that reads standard input would keep the process until the next line
    _end_by_signals()
    made.run("stdio")


STEPS = 20  # lines of progress


def download(args: argparse.Namespace) -> None:
    found = {
        name: entry
        for table in tables().values()
        for name, entry in table.items()
        if entry.download
    }
    if args.name not in found:
        raise UnknownName(
            f"{args.name!r} has nothing to download: expected one of {', '.join(found)}"
        )
    shown = -1

    def show(share: float, what: str) -> None:
        nonlocal shown
        if int(share * STEPS) > shown:
            shown = int(share * STEPS)
            progress(f"{args.name}: {share:.0%} {what}")

    setting = found[args.name].model_setting
    if args.model and not setting:
        raise BadInput(f"--model {args.model}: {args.name!r} has one model: leave it out")
    settings = Settings.from_environment(**({setting: args.model} if args.model else {}))
    progress(f"{args.name}: ready in {load(found[args.name].download)(show, settings)}")
