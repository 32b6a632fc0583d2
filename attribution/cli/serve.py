"""Start the web app on a free port."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

from attribution.settings import ROOT


def free_port(wanted: int) -> int:
    """The wanted port, or another one where it is taken."""
    for port in (wanted, *range(wanted + 1, wanted + 50), 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError(f"no free port near {wanted}")


def serve(port: int) -> int:
    """Run Streamlit until it is interrupted; returns its exit status."""
    chosen = free_port(port)
    print(f"Attribution explorer: http://localhost:{chosen}", flush=True)
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", str(chosen)]
    command += ["--server.address", "localhost", "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    server = subprocess.Popen(command, cwd=ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the server ends with us
    try:
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        server.terminate()
