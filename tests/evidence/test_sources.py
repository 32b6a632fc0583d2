"""What a source can be, and what it is told where it is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from attribution.errors import BadInput
from attribution.evidence.sources import Source


@pytest.mark.parametrize("text", ["missing.pdf", "notes/missing.txt", "~/missing", "./missing", "missing.DOCX"])
def test_a_path_that_is_not_there_is_no_such_file(text: str) -> None:
    with pytest.raises(BadInput, match="no such file"):
        Source.parse(text)


def test_other_words_are_told_the_names(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected one of library, duckduckgo"):
        Source.parse("wikipedia2")
    (tmp_path / "a.md").write_text("A line.")
    assert Source.parse(str(tmp_path / "a.md")).kind == "path" and Source.parse("web").kind == "engine"
