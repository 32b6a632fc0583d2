"""Hold many connections to a port of this machine open that send half a request, and open again
those that it closes.

python -m benchmarks.half_open PORT CONNECTIONS, until it is ended; prints how many it has opened so
far.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

HALF = b"GET /health HTTP/1.1\r\nHost: local"
EVERY = 1.0  # seconds until a closed one is opened again


@contextmanager
def half_open(port: int, connections: int) -> Iterator[list[int]]:
    """Keep that many open meanwhile. The list gets one number: how many were opened in all."""
    command = [sys.executable, "-m", "benchmarks.half_open", str(port), str(connections)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        opened: list[int] = []
        try:
            yield opened
        finally:
            process.terminate()
            opened.append(int(process.stdout.read().split("\n")[-2]))


async def hold(port: int, connections: int) -> None:
    opened = 0

    async def one() -> None:
        nonlocal opened
        while True:
            with suppress(OSError):  # the server may accept no more
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                opened += 1
                try:
                    writer.write(HALF)
                    await reader.read()  # until it is closed: nothing is replied to half a request
                finally:
                    writer.close()
            await asyncio.sleep(EVERY)

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = [asyncio.create_task(one()) for _ in range(connections)]
    while held:
        await asyncio.sleep(EVERY)
        print(opened, flush=True)


if __name__ == "__main__":
    asyncio.run(hold(int(sys.argv[1]), int(sys.argv[2])))
