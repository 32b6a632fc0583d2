"""Write docs/settings.md from the table of settings: python -m docs.settings."""

from __future__ import annotations

import re
from pathlib import Path

from attribution.server_settings import SERVER
from attribution.settings import rows

PAGE = Path(__file__).with_suffix(".md")
HEAD = """\
# Settings

Set these on the command line with `--set NAME=VALUE`, in REST with `"settings": {"NAME": VALUE}`,
in Python as keyword arguments of `check`. Lengths are in characters, times in seconds.
`python -m docs.settings` writes this page.

What visitors and clients may choose: *anyone*: any value; *limit*: a lower one; *sources*: no files
of this machine; *model*: one that the operator allows; *session*: typed in the page; *operator*,
*place*: nothing, it is set on the command line.

| setting | default | chosen by | what it is |
|---|---|---|---|
"""
SERVERS = """

## Of a server

The operator sets these in the environment:

| variable | default | what it is |
|---|---|---|
"""


def page() -> str:
    """Return the page as Markdown."""
    lines: list[str] = []
    server: list[str] = []
    for row in rows():
        default = "" if row["default"] in ("", (), None) else f"`{row['default']}`"
        choices = re.findall(r"'(\w+)'", str(row["type"]))
        note = (
            f"{row['note']}; one of {', '.join(f'`{c}`' for c in choices)}"
            if choices
            else row["note"]
        )
        cells = (f"`{row['name']}`", default, row["chosen_by"], note)
        lines.append(f"| {' | '.join(map(str, cells))} |".replace("|  |", "| |"))
    for variable, (number, _, note) in SERVER.items():
        shown = "one for each core" if variable == "ATTRIBUTION_RUNS" else f"`{number}`"
        server.append(f"| `{variable}` | {shown} | {note} |")
    return HEAD + "\n".join(lines) + SERVERS + "\n".join(server) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
