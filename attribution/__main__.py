import signal
from types import FrameType

from attribution.cli.main import main


def _end(number: int, _: FrameType | None) -> None:
    """End the command as Ctrl-C does, so that nothing half-written stays behind."""
    raise SystemExit(128 + number)


signal.signal(signal.SIGTERM, _end)
raise SystemExit(main())
