import os
import sys
import time
from pathlib import Path

import pytest

from benchmarks.half_open import half_open
from tests.serve import API, Served, serving, until

ALLOWED = 1024  # open files, a common default
LIMITED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({ALLOWED}, int(sys.argv.pop(1))))
from attribution.cli.main import main
raise SystemExit(main(sys.argv[1:]))
"""


def files(served: Served) -> int:
    return len(os.listdir(f"/proc/{served.process.pid}/fd"))


@pytest.mark.parametrize("flags", [API, ()], ids=["api", "web"])
def test_half_open_connections_leave_the_server_to_others(tmp_path: Path, flags: tuple[str, ...]) -> None:
    with serving(tmp_path, *flags, start=[sys.executable, "-c", LIMITED, str(ALLOWED)]) as served:
        before = files(served)
        with half_open(served.port, ALLOWED + 36) as opened:
            waits = []
            for _ in range(20):
                waits.append(served.seconds())
                time.sleep(0.1)
            assert max(waits) < 2
            assert files(served) < before + ALLOWED * 3 // 4
        assert opened[0] > ALLOWED
        until(lambda: files(served) < before + 20)
        assert "Traceback" not in served.log.read_text()
