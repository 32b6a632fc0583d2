"""`serve`: the web app."""

from __future__ import annotations

import argparse
import os
import socket
import sys

from attribution.errors import BadInput
from attribution.settings import ROOT

PORT = 8501


def is_free(port: int) -> bool:
    """Whether a server can listen there. Connections of an earlier one that are still closing do not count."""
    with socket.socket() as probe:
        if os.name == "posix":  # elsewhere the option would let two servers share the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port(first: int) -> int:
    """The first free port from this one on."""
    port = next((port for port in range(first, min(first + 50, 65_536)) if is_free(port)), None)
    if port is None:
        raise BadInput(f"no free port from {first} on: choose one with --port")
    return port


def serve(args: argparse.Namespace) -> None:
    """Become the Streamlit server, so that a signal to this process reaches it."""
    if args.port is not None and not 0 < args.port < 65_536:
        raise BadInput(f"port {args.port}: expected a number from 1 to 65535")
    if args.port is not None and not is_free(args.port):
        raise BadInput(f"port {args.port} is in use: stop the program that uses it, or choose another --port")
    port = args.port or free_port(PORT)
    print(f"Attribution explorer: http://localhost:{port}", flush=True)
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", str(port)]
    command += ["--server.address", "localhost", "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    os.chdir(ROOT)
    os.execv(sys.executable, command)
