"""`serve`: the web app or the API; `mcp`: the MCP server; `download`: models before their use;
`collections`: documents that runs can search.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
from pathlib import Path

from attribution.cli import options
from attribution.cli.options import Add, open_store, print_json, progress, report_failure
from attribution.errors import BadInput, UnknownName
from attribution.settings import ROOT, Settings
from attribution.tables import Entry, load

PORT = 8501
API_PORT = 8502
PORTS_TRIED = 50
SHUTDOWN_SECONDS = 5


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("download", "download a model before first use", download)
    p.add_argument("name", help="see: list; those with a model to download or to make")

    p = add("serve", "start the web app, or the API", serve)
    p.add_argument(
        "--port", type=int, help=f"by default {PORT} (API: {API_PORT}), or the next free port"
    )
    p.add_argument("--host", default="localhost", help="the address to listen at; 0.0.0.0 for all")
    p.add_argument("--api", action="store_true", help="serve REST and MCP instead (docs/api.md)")
    options.add_verifier(p)

    p = add("mcp", "serve the MCP tools over standard input and output", mcp)
    options.add_verifier(p)

    p = add("collections", "manage collections of documents", list_documents)
    group = p.add_subparsers(dest="action", required=True, metavar="ACTION")
    q = group.add_parser("add", help="add files, folders and web pages that are new or changed")
    q.add_argument("name", metavar="NAME", help="the collection, created if it does not exist")
    q.add_argument("sources", nargs="+", metavar="PATH|URL")
    q.set_defaults(work=add_documents)
    q = group.add_parser("list", help="list the collections, or the documents of one")
    q.add_argument("name", nargs="?", metavar="NAME")
    q = group.add_parser("remove", help="remove a document, or a whole collection")
    q.add_argument("name", metavar="NAME")
    q.add_argument("document", nargs="?", metavar="DOCUMENT")
    q.set_defaults(work=remove_documents)


def is_free(port: int) -> bool:
    """Return True if a server can listen on the port, though old connections still close."""
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
    for port in range(first, min(first + PORTS_TRIED, 65_536)):
        if is_free(port):
            return port
    raise BadInput(f"no free port from {first} on: choose one with --port")


def serve(args: argparse.Namespace) -> None:
    """Serve the API, or replace this process by the web app's server so that it gets signals."""
    if not args.api and options.choices(args):
        raise BadInput(
            "--verifier and --set are for --api; in the web app they are chosen in the page"
        )
    port = _port(args.port, API_PORT if args.api else PORT)
    if args.api:
        return _serve_api(options.settings(args), args.host, port)
    from attribution.server.middleware import host_names

    host_names(args.host)  # raises an error for a host that the web app could not start with
    print(f"Attribution explorer: http://localhost:{port}", flush=True)
    command = [sys.executable, "-m", "pages.ui.server", "--host", args.host, "--port", str(port)]
    os.chdir(ROOT)
    os.execv(sys.executable, command)


def _port(requested: int | None, default: int) -> int:
    if requested is None:
        return free_port(default)
    if not 0 < requested < 65_536:
        raise BadInput(f"port {requested}: expected a number from 1 to 65535")
    if not is_free(requested):
        raise BadInput(
            f"port {requested} is in use: stop the program that uses it, or choose another --port"
        )
    return requested


def _serve_api(settings: Settings, host: str, port: int) -> None:
    from attribution.fair_queue import turns
    from attribution.server.limits import Config
    from attribution.server.middleware import host_names
    from attribution.server.rest import Keys, Server, create
    from attribution.server.work import Work
    from attribution.server_settings import share_heaps

    _log_to_standard_error()
    share_heaps()
    work = Work(turns())
    app = create(settings, Keys.from_environment(), host_names(host), work)
    config = Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    print(f"Attribution API: http://{host}:{port} (what it offers: /openapi.json)", flush=True)
    _end_by_signals()  # after uvicorn has ended its work
    Server(config, work).run()


def _end_by_signals() -> None:
    """Let signals end the process at once and without a traceback."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _log_to_standard_error() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(name)s: %(message)s")


def mcp(args: argparse.Namespace) -> None:
    """Serve the MCP tools over standard input and output."""
    from attribution.fair_queue import turns
    from attribution.server.mcp import server
    from attribution.server.work import Work

    _log_to_standard_error()
    tools = server(options.settings(args), Work(turns()))
    _end_by_signals()  # the thread that reads standard input would keep the process
    tools.run("stdio")


def download(args: argparse.Namespace) -> None:
    """Download the model of an implementation."""
    entries: dict[str, Entry] = {}
    for kind in options.TABLES:
        of_kind = options.table(kind)
        entries |= {name: entry for name, entry in of_kind.items() if entry.download}
    if args.name not in entries:
        raise UnknownName(
            f"{args.name!r} has nothing to download: expected one of {', '.join(entries)}"
        )
    path = load(entries[args.name].download)(Settings.from_environment())
    progress(f"{args.name}: ready in {path}")


# --- collections ---


def add_documents(args: argparse.Namespace) -> int:
    """Add documents to a collection and print what became of them; exit status 1 if one failed."""
    from attribution.library import ingest
    from attribution.library.collection_store import DocumentStore, check_name

    check_name(args.name)
    addresses = [source for source in args.sources if "://" in source]
    paths = [Path(source) for source in args.sources if "://" not in source]
    items, unsupported = ingest.from_paths(paths)
    items += ingest.from_addresses(addresses)
    if not items:
        raise BadInput("nothing to add: give files, folders or http(s) addresses")
    settings = Settings.from_environment()
    store = open_store(settings)
    DocumentStore(store.database).put(args.name, ())
    counts = dict.fromkeys(("added", "changed", "unchanged", "failed"), 0)
    failures = []
    for done, result in enumerate(ingest.add(store, args.name, items, settings), 1):
        counts[result.state] += 1
        if result.failure:
            failures.append(result.failure.model_dump(include={"subject", "kind", "message"}))
            report_failure(result.failure)
        progress(f"add {done}/{len(items)}")
    print_json({"collection": args.name, **counts, "left_out": unsupported, "failures": failures})
    return int(counts["failed"] > 0)


def list_documents(args: argparse.Namespace) -> None:
    """Print the collections, or the documents of one."""
    from attribution.library.collection_store import DocumentStore

    documents = DocumentStore(open_store().database)
    if args.name is not None:
        return print_json(documents.documents(args.name))
    print_json([vars(summary) for summary in documents.collections()])


def remove_documents(args: argparse.Namespace) -> None:
    """Remove a document, or a whole collection."""
    from attribution.library.collection_store import DocumentStore

    documents = DocumentStore(open_store().database)
    print_json({"collection": args.name, "removed": documents.remove(args.name, args.document)})
