"""Unwrap an answer that comes as JSON, as HTML or in a code fence.

What wraps it is blanked, not cut out, so that offsets into the answer stay true.
"""

from __future__ import annotations

import json
import re

from attribution.text.lines import looks_like_code

HIDDEN = "\u00ad"  # is shown as nothing
FENCE = re.compile(
    r"""
    (?P<open> (?: \A\s* | ^[ \t]* )(?P<fence>```+|~~~+)[ ]?(?P<kind>\w*)[ \t]*\n ) (?P<text>.*?)
    (?P<end> \n(?P=fence)[ \t]*$\s* )
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
SENTENCE = re.compile(r"\w \w+ [^\n]{2,200}[.!?]$")
TEXTS = frozenset(("", "markdown", "md", "text", "txt", "plaintext", "json", "html"))
STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"(?P<colon>\s*:)?', re.DOTALL)
ESCAPE = re.compile(r"\\(?:u[\da-fA-F]{4}|.)", re.DOTALL)
# Names of values that are no part of the answer
ASIDE = re.compile(
    r"""
    .*(?:sources?|references?|citations?|documents?|urls?|links?|ids?|titles?|questions?|query
    |model|reasoning|thoughts?|thinking|analysis|rationale|explanation|confidence|options?|choices?
    |type|role|status|language|date|keywords?|tags?)
    """,
    re.IGNORECASE | re.VERBOSE,
)
HTML = re.compile(
    r"\s*<(?:!doctype|html|body|div|main|section|article|p|h[1-6]|ul|ol|table|blockquote)\b",
    re.IGNORECASE,
)
TAG = re.compile(
    r"<(?P<end>/?)(?P<name>[a-z][a-z\d]{0,15})\b[^<>]{0,300}>|<!(?:--|doctype)[^<>]{0,300}>", re.I
)
KEPT = frozenset(("sup", "br", "a", "cite", "think", "thinking", "details", "summary"))
BLOCKS = frozenset(
    """p div main section article ul ol table tr thead tbody blockquote html body header footer
    """.split()
)
MARKDOWN = {"li": "\n- ", "b": "**", "strong": "**"}
HEADING = re.compile(r"h[1-6]")


def unwrapped(answer: str) -> str:
    """Return an answer, of equal length, with blanks in place of what only wraps it."""
    fence = FENCE.fullmatch(answer)
    if not fence or fence["kind"].lower() not in TEXTS:
        return _without_markup(FENCE.sub(_opened, answer))
    inner = _without_markup(fence["text"])
    if not fence["kind"] and inner == fence["text"] and _is_code(inner):
        return answer
    return _blank(fence["open"]) + inner + _blank(fence["end"])


def _without_markup(answer: str) -> str:
    if answer.lstrip()[:1] in ("{", "["):
        return _of_json(answer)
    return TAG.sub(_tag, answer) if HTML.match(answer) and "</" in answer else answer


def _opened(fence: re.Match[str]) -> str:
    is_text = fence["kind"].lower() in ("markdown", "md")
    return _blank(fence["open"]) + fence["text"] + _blank(fence["end"]) if is_text else fence[0]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _is_code(text: str) -> bool:
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    return looks_like_code(lines) or not any(map(SENTENCE.search, lines))


def _of_json(answer: str) -> str:
    """Keep the sentences among the values of a JSON document, each as a paragraph."""
    try:
        json.loads(answer)
    except (ValueError, RecursionError):
        return answer
    kept: list[str] = []
    end = 0
    name = ""
    for string in STRING.finditer(answer):
        if string["colon"]:
            name = string[1]
        elif not ASIDE.fullmatch(name) and " " in string[1].strip():
            kept += [
                _blank(answer[end : string.start()]),
                "\n",
                ESCAPE.sub(_unescaped, string[1]),
                "\n",
            ]
            end = string.end()
    return "".join(kept) + _blank(answer[end:]) if kept else answer


def _unescaped(escape: re.Match[str]) -> str:
    character = str(json.loads(f'"{escape[0]}"'))
    is_half = "\ud800" <= character <= "\udfff"  # of a pair of surrogates
    return HIDDEN * (len(escape[0]) - 1) + (HIDDEN if is_half else character)


def _tag(tag: re.Match[str]) -> str:
    """Return what a tag means in Markdown, in as many characters."""
    name = (tag["name"] or "").lower()
    if name in KEPT:
        return tag[0]
    sign = "" if tag["end"] and name == "li" else MARKDOWN.get(name, "")
    if HEADING.fullmatch(name):
        sign = "\n\n" if tag["end"] else "\n# "
    elif name in BLOCKS:
        sign = "\n\n"
    filler = HIDDEN if name in ("b", "strong", "span", "em", "i", "u", "code") else " "
    size = len(tag[0]) - len(sign)
    return sign + filler * size if tag["end"] else filler * size + sign
