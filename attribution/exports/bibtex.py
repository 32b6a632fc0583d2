"""The sources as BibTeX. Text is escaped for LaTeX; letters stay UTF-8, as Biber and BibTeXU read them."""

from __future__ import annotations

from attribution.exports import Exported
from attribution.exports.sources import Reference, references
from attribution.types import BUILT_IN_LICENCE

# Commands without braces of their own: BibTeX counts braces even behind a backslash.
_LATEX = str.maketrans(
    {
        "\\": "\\textbackslash{}", "{": "\\textbraceleft{}", "}": "\\textbraceright{}", "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}", **{c: f"\\{c}" for c in "$&%#_"},
    }
)  # fmt: skip
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def write(exported: Exported) -> str:
    """One entry for each source."""
    return "\n".join(map(_entry, references(exported.report)))


def _entry(source: Reference) -> str:
    year, _, rest = source.published.partition("-")
    fields = {
        "title": f"{{{_latex(source.title)}}}",  # braces keep its capitals
        "howpublished": _latex(source.site),
        "year": year,
        "url": source.url,
        "urldate": source.accessed,
        "note": _note(source),
    }
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    if rest:
        lines.insert(3, f"  month = {MONTHS[int(rest[:2]) - 1]},\n")
    return f"@misc{{{source.key},\n{''.join(lines)}}}\n"


def _note(source: Reference) -> str:
    if source.facts_from:
        return f"Facts after \\url{{{source.facts_from}}}. {BUILT_IN_LICENCE}"
    return f"Accessed {source.accessed}" if source.accessed else ""


def _latex(text: str) -> str:
    return text.translate(_LATEX)
