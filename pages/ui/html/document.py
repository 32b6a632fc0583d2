"""A whole HTML document of our own nodes: one file, no script, and nothing that a browser would fetch."""

from __future__ import annotations

from pages.ui.html.render import Node, Text, html

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def document(title: str, css: str, body: Node, language: str = "en") -> str:
    """The text of the file. The policy keeps a browser from running or loading anything, whatever the file holds."""
    heading = html(Text(title))
    return (
        f'<!doctype html>\n<html lang="{html(Text(language))}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{heading}</title>\n<style>\n{css}\n</style>\n</head>\n"
        f'<body>\n<main class="root">\n<h1 dir="auto">{heading}</h1>\n{html(body)}\n</main>\n</body>\n</html>\n'
    )
