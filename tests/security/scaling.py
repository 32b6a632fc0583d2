"""Time against length: hostile texts of many shapes, and a measure of what twice the text costs."""

import gc
import time
from collections.abc import Callable

MOST = 2.5  # times as long for twice the text
_FLOOR = 0.001  # seconds of processor time that are too short to be compared
_CEILING = 1.0  # and such that are long enough to be sure of
_ROUNDS = 5  # a noisy machine is asked again

_UNITS = (
    # one character
    *"aA1 \t\n\r.,:;!?@/\\|#*_`~-–—'’\"“”«»()[]{}<>=+&%$€^•·…。！？،؟中あกé\u0301\u200b\u00a0\u2028\ufeff\x00İß½²⁰🙂",
    # letters and figures
    "Aa",
    "aA",
    "a ",
    " a",
    "A ",
    "Ab ",
    "Abc Def ",
    "a1",
    "1a",
    "ed",
    "ing ",
    "the ",
    "of the ",
    "not ",
    "n't ",
    "A.",
    "A. ",
    "a. B",
    "Mr. ",
    "e.g. ",
    "U.S. ",
    "aa.Bb",
    "1.",
    "1. ",
    "1) ",
    "(1) ",
    "1,",
    "1,000 ",
    "1.5 ",
    "1-",
    "1–2 ",
    "1999 ",
    "1999-01-01 ",
    "5 km ",
    "$5 ",
    "10% ",
    "1st ",
    "1990s ",
    "in 1999, ",
    "January 5, ",
    "1:",
    "1/",
    # words and sentences
    "a-",
    "a'",
    "a’s ",
    "a,",
    "a, ",
    "a; ",
    "a: ",
    "Word: ",
    "A sentence. ",
    "A b, c and d. ",
    "He said “a”. ",
    "a?b!",
    "He was born in 1999. ",
    "It was ",
    "said that ",
    "and ",
    ", and ",
    "because ",
    "\u0301a",
    "🙂 ",
    "中文。",
    "ก ",
    # addresses
    "a@",
    "a@b",
    "a@b.c",
    "a@b.c ",
    "@.",
    "@ ",
    ".@",
    "http://",
    "https://a.b/c ",
    "http://a.b/?c=d&",
    "www.",
    "www.a ",
    "doi:",
    "10.1234/",
    "10.1234/a ",
    "//",
    "/a",
    "../",
    "./",
    "%20",
    "&a=b",
    "?a",
    "#a",
    "://",
    "a.b.",
    "mailto:",
    # marks of Markdown and of citations
    "[[",
    "](",
    "[a](",
    "[a](b)",
    "[a][",
    "[a][b]",
    "[a]: ",
    "[^a]",
    "[^1]: ",
    "![",
    "![a](",
    "[1]",
    "[1] ",
    "[1, ",
    "[1,2]",
    "[1",
    "【1】",
    "【1:",
    "(A, 1999",
    "(Smith et al., 1999) ",
    "Smith (1999) ",
    "According to ",
    "¹²",
    "**",
    "**a",
    "**a** ",
    "*a*",
    "*a ",
    "* ",
    "*_",
    "_a",
    "~~",
    "~~a",
    "``",
    "`a",
    "```\n",
    "# ",
    "#a\n",
    "> ",
    "- ",
    "- a\n",
    "-\n",
    "1. a\n",
    "  - ",
    "+ ",
    "| a ",
    "|a|b|\n",
    "|-|\n",
    "||\n",
    "\\a",
    "\\|",
    "---\n",
    "===\n",
    "a\n",
    "a\n\n",
    "\n ",
    " \n",
    "\r\n",
    "\t\n",
    "\n\n\n",
    "<a",
    "<a>",
    "</a>",
    "<br>",
    "<!--",
    "-->",
    "<b><i>",
    "<script>",
    "</script",
    "<a href='",
    "&amp;",
    "&#",
    "&#x",
    "<data",
    "<think>",
    "<?xml ",
    # quotation marks, brackets and JSON
    "''",
    '"a" ',
    "'a' ",
    "“a” ",
    '\\"',
    "\\\\",
    '"\\',
    '{"',
    '{"a":',
    '["a",',
    "}{",
    "][",
    "()",
    "(a) ",
    ")(",
    "[]",
    # the program's own marks
    "Retrieved ",
    "Retrieved on ",
    "ISBN ",
    "et al. ",
    "pp. 1",
    "vol. 1 ",
    "1 (1): ",
    "A, B., ",
    "Smith, J. ",
    "^ ",
    "References\n",
    "See also\n",
    "home | ",
    "menu ",
    "share on ",
    "cookies a",
    "[edit]",
    "[note 1",
    "[a]",
    "Sources: ",
    "User: ",
    "user-agent: ",
    "Disallow: /*",
    "Allow: /a$\n",
    "*$",
    "/*",
    "such as: ",
    "subscribe to ",
    "isAccessibleForFree: ",
    "until ",
    "It is ",
)

_FRAMES = ("{}", '<"([a{}a')  # alone, and with something before and behind it


def shapes(framed: bool = True) -> dict[str, Callable[[int], str]]:
    """Makers of texts of a length, by name."""

    def maker(unit: str, frame: str) -> Callable[[int], str]:
        return lambda length: frame.replace("{}", (unit * (length // len(unit) + 1))[:length])

    frames = _FRAMES if framed else _FRAMES[:1]
    return {
        frame.replace("{}", repr(unit)): maker(unit, frame) for frame in frames for unit in _UNITS
    }


def seconds(work: Callable[[str], object], text: str) -> float:
    """The processor time of this thread, without that of the garbage collector."""
    gc.disable()
    try:
        start = time.process_time()
        work(text)
        return time.process_time() - start
    finally:
        gc.enable()


def is_linear(work: Callable[[str], object], shape: Callable[[int], str], length: int) -> bool:
    """Does twice the text take at most MOST times as long? One that seems to take longer is asked
    with more text.
    """
    return any(_is_linear(work, shape, length * more) for more in (1, 2, 4))


def _is_linear(work: Callable[[str], object], shape: Callable[[int], str], length: int) -> bool:
    one, two = shape(length), shape(2 * length)
    longer = seconds(work, two)
    shorter = seconds(work, one) if longer >= _FLOOR else longer
    for _ in range(_ROUNDS):
        if longer < _FLOOR or longer <= MOST * shorter:
            return True
        if longer > _CEILING:
            return False
        shorter, longer = min(shorter, seconds(work, one)), min(longer, seconds(work, two))
    return False
