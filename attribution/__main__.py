"""The command `attribution`, and `python -m attribution`."""

import signal
from types import FrameType

from attribution.cli.main import main

GRACE = 10  # seconds in which a command ends by itself


def command() -> None:
    """Run the command of this process and end with its exit status."""
    signal.signal(signal.SIGTERM, _end)
    raise SystemExit(main())


def _end(number: int, _: FrameType | None) -> None:
    """End the command as Ctrl-C does, so that nothing half-written stays behind; a second signal
    ends it at once.
    """
    signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "alarm"):
        signal.alarm(GRACE)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    command()
