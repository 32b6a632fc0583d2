"""Every reference to one of the four papers, as in "V24 4.3" or "V24 Table 4", leads to what the
paper has.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAPERS = tomllib.loads((ROOT / "tests/data/papers.toml").read_text("utf-8"))
SHORT = "|".join(PAPERS)
NUMBER = r"(?:\d+(?:\.\d+)*|[A-E](?:\.\d)?(?!\w))"
REFERENCE = re.compile(
    rf"\b({SHORT}) ((?:Table |Figure )?{NUMBER}(?:(?:, | and ){NUMBER})*|Appendix)"
)
OTHER_FORM = re.compile(
    rf"\b(?:{SHORT})(?:'s)?,? \(?(?:§|(?:section|table|figure|appendix)s?\b)|\d of (?:{SHORT})\b"
)


def texts() -> Iterator[tuple[str, str]]:
    for folder in (
        "attribution",
        "pages",
        "prompts",
        "docs",
        "training",
        "benchmarks",
        "tests/data",
        ".",
    ):
        for path in ROOT.glob(f"{folder}/*" if folder == "." else f"{folder}/**/*"):
            if path.suffix in (".py", ".md", ".toml", ".yml"):
                yield str(path.relative_to(ROOT)), path.read_text("utf-8")


def unknown(text: str) -> list[str]:
    """The references of a text that lead nowhere, or are not written as the others are."""
    found = [m[0] for m in OTHER_FORM.finditer(text)]
    for m in REFERENCE.finditer(text):
        kind = next((k for k in ("Table", "Figure") if m[2].startswith(k)), "")
        known = PAPERS[m[1]][kind or "sections"].split()
        for number in re.findall(NUMBER, m[2].removeprefix(kind)) if m[2] != "Appendix" else [m[2]]:
            if number not in known:
                found.append(f"{m[1]} {kind} {number}")
    return found


def test_every_reference_names_a_section_table_or_figure_that_exists() -> None:
    wrong = {name: found for name, text in texts() if (found := unknown(text))}
    assert not wrong
    assert sum(len(REFERENCE.findall(text)) for _, text in texts()) > 60


@pytest.mark.parametrize(
    "text",
    [
        "V24 4.4",
        "(W24 4.4)",
        "V24, section 4.3",
        "R23 Table 13",
        "T24 Figure 5",
        "table 7 of V24",
        "T24 B.1",
    ],
)
def test_a_wrong_reference_is_found(text: str) -> None:
    assert unknown(text)
