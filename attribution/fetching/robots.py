"""Access rules of a host for programs: robots.txt (RFC 9309), fetched as safely as a page."""

from __future__ import annotations

import re
from dataclasses import dataclass

import httpx
from protego import Protego

from attribution.errors import FetchFailed
from attribution.fetching.http import AGENT, REDIRECTS, host_of, parsed, send
from attribution.fetching.network import Allow, Clock
from attribution.settings import Settings

MAX_BYTES = 512_000  # RFC 9309, 2.5: at least 500 kibibytes are read, the rest is ignored
MAX_REDIRECTS = 5
_OURS = re.compile(rf"{AGENT}(?:[*/ ].*)?")
_AGENT_LINE = re.compile(r"\s*user[- ]?agent\s*:?\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True)
class Rules:
    """The rules of one host; `refused` says why none of its pages may be requested, `delay` is in seconds."""

    parsed: Protego | None = None  # None: everything is allowed
    delay: float = 0.0
    refused: FetchFailed | None = None

    def check(self, url: httpx.URL) -> None:
        """Raise FetchFailed(robots) if programs are not allowed to read the page."""
        if self.refused:
            raise FetchFailed(self.refused.kind, str(self.refused), detail=self.refused.detail)
        if self.parsed and not self.parsed.can_fetch(str(url), AGENT):
            raise FetchFailed(
                "robots",
                f"the robots.txt of {host_of(url)} does not allow programs to read this page; open it in a browser and "
                "add its text as a document",
            )


def read_rules(url: httpx.URL, settings: Settings, allow: Allow) -> Rules:
    """Read the rules of a URL's host, within `settings.robots_timeout`.

    RFC 9309, 2.3.1: a missing robots.txt (4xx) allows everything; one that cannot be fetched (5xx, no response)
    forbids everything. A host that cannot be reached at all keeps that failure's kind.
    """
    clock = Clock(settings.robots_timeout)
    target = url.copy_with(raw_path=b"/robots.txt")
    try:
        for _ in range(MAX_REDIRECTS + 1):
            reply = send(
                target, settings, allow, clock, headers={"Accept": "text/plain, */*;q=0.1"}, limit=MAX_BYTES, cut=True
            )
            location = reply.headers.get("location")
            if reply.status not in REDIRECTS or not location:
                break
            target = parsed(location, base=target)
    except FetchFailed as error:
        if error.kind not in ("timed_out", "unreadable"):
            return Rules(refused=error)
        return Rules(refused=_unknown(url, "timed out" if error.kind == "timed_out" else "is unreadable", error.detail))
    if reply.status >= 500 or reply.status < 200:
        return Rules(refused=_unknown(url, f"answers with HTTP {reply.status}"))
    if reply.status >= 300:
        return Rules()
    rules = Protego.parse(_merged(reply.content.decode("utf-8", "replace")))
    delay = rules.crawl_delay(AGENT) or 0.0
    if rate := rules.request_rate(AGENT):
        delay = max(delay, rate.seconds / rate.requests)
    return Rules(rules, min(delay, settings.crawl_delay))


def _unknown(url: httpx.URL, why: str, detail: str = "") -> FetchFailed:
    return FetchFailed(
        "robots",
        f"the robots.txt of {host_of(url)} {why}, so its pages are not read; run again later, or add the page's text "
        "as a document",
        detail=detail,
    )


def _merged(text: str) -> str:
    """Merge the groups of all other programs under one name, so that names times rules cannot fill the memory."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if match := _AGENT_LINE.match(line.partition("#")[0]):
            name = match[1].strip().lower()
            ours = _OURS.fullmatch(name)
            lines[number] = f"User-agent: {AGENT if ours else '*' if name == '*' else 'another'}"
    return "\n".join(lines)
