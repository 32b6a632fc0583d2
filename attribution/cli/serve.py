"""`serve`: the web app."""

from __future__ import annotations

import argparse
import signal
import socket
import subprocess
import sys

from attribution.settings import ROOT


def free_port(first: int) -> int:
    """The first free port from this one on."""
    for port in (*range(first, first + 50), 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError(f"no free port near {first}")


def serve(args: argparse.Namespace) -> int:
    """Run Streamlit until it is interrupted; returns its exit status."""
    port = free_port(args.port)
    print(f"Attribution explorer: http://localhost:{port}", flush=True)
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", str(port)]
    command += ["--server.address", "localhost", "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    server = subprocess.Popen(command, cwd=ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the server ends with this process
    try:
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        server.terminate()
