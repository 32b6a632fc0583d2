"""The pictures of the documentation, taken from the running app: `make screenshots`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

from attribution.serving import free_port

ROOT = Path(__file__).resolve().parent.parent
ARGUMENTS = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
SIZES = {1440: 900, 1024: 1100, 390: 844}


def main() -> None:
    port = free_port(8600)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "ATTRIBUTION_DATA": folder})
        try:
            _wait(f"http://localhost:{port}/_stcore/health")
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS.split())
                for scheme in ("light", "dark"):
                    for width, height in SIZES.items():
                        viewport = {"width": width, "height": height}
                        page = browser.new_context(viewport=viewport, color_scheme=scheme).new_page()
                        page.set_default_timeout(180_000)
                        page.goto(f"http://localhost:{port}")
                        page.get_by_role("button", name="Analyse").click()
                        page.get_by_role("button", name="Download report.json").wait_for()
                        page.wait_for_timeout(1500)
                        page.locator("[data-claim][role=button]").nth(1).click()
                        page.wait_for_timeout(2500)
                        page.screenshot(path=str(ROOT / "docs" / f"explore-{width}-{scheme}.png"))
                        page.context.close()
                browser.close()
        finally:
            server.terminate()
            server.wait(20)


def _wait(url: str) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"{url} did not answer in two minutes")


if __name__ == "__main__":
    main()
