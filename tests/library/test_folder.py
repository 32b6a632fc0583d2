import os
import time
from pathlib import Path

import pytest

from attribution.errors import SearchFailed
from attribution.library.folder import FolderSearcher
from attribution.settings import Settings
from tests.servers import pdf_bytes

NILE = """---
title: Nile
date: 2026-07-22
subject: geography
url: https://en.wikipedia.org/wiki/Nile
---

The Nile is a river in Africa. It flows north into the Mediterranean Sea.

## Floods ##

Every summer it flooded the fields of Egypt. Boats carry a million people.
"""
OTHERS = {
    "everest.md": (
        "# Mount Everest\n\nThe highest mountain on Earth rises in the Himalaya, at 8,849 metres."
    ),
    "deep/bees.txt": (
        "Honey bees dance to tell each other where the flowers are. A hive holds many thousand "
        "bees."
    ),
    "tower.html": (
        "<html><head><title>Eiffel Tower</title></head><body><p>Gustave Eiffel built it in "
        "Paris.</p></body>"
    ),
    "sea.md": (
        "---\ntitle: Mediterranean Sea\n---\nBetween Europe and Africa. The Nile ends there. Boats "
        "cross it."
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "nile.md").write_text(NILE, encoding="utf-8")
    for name, text in OTHERS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "study.pdf").write_bytes(pdf_bytes("Photosynthesis turns light into sugar."))
    (tmp_path / ".hidden.md").write_text("hidden", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    return tmp_path


def found(folder: Path, query: str, k: int = 5) -> list[str]:
    return [hit.url for hit in FolderSearcher(Settings(), folder).search(query, k)]


def test_front_matter_becomes_the_page(folder: Path) -> None:
    (hit, *_) = FolderSearcher(Settings(), folder).search("The Nile flooded Egypt every summer.", 3)
    assert hit.rank == 1
    assert hit.searcher == "library"
    assert hit.page is not None
    assert hit.page.url == "library:nile.md"
    assert hit.page.title == "Nile"
    assert hit.page.kind == "library"
    assert hit.page.published == "2026-07-22"
    assert hit.page.reference == "https://en.wikipedia.org/wiki/Nile"
    assert hit.page.text.startswith("The Nile is a river")
    assert "\n\nFloods\n\n" in hit.page.text


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("How do honey bees dance?", ["deep/bees.txt"]),
        ("Who built the Eiffel Tower?", ["tower.html"]),
        ("Plants use photosynthesis.", ["study.pdf"]),
        ("Mount Everest is the highest mountain.", ["everest.md"]),
        ("Nile Mediterranean Sea", ["sea.md", "nile.md"]),  # titles weigh more
        ("flooding Égypt", ["nile.md"]),
        ("Penguins live in Antarctica.", []),
        ("Boats on the Mekong bring rice to Vietnam and China.", []),  # shares one word with two
        ("It is what it was.", []),
        ("", []),
        ("?!", []),
        ("1 2 3", []),
    ],
)
def test_files_of_every_kind_are_found_by_enough_of_their_words(
    folder: Path, query: str, names: list[str]
) -> None:
    assert found(folder, query) == [f"library:{name}" for name in names]
    assert found(folder, query, 1) == [f"library:{name}" for name in names[:1]]


@pytest.mark.parametrize(
    "query",
    [
        'nile" OR title:*',
        "nile AND (",
        "NEAR(nile egypt, 2)",
        "nile*",
        "-nile ^river",
        "title : nile",
        "{nile} + river",
        "nile'; drop articles; --",
        "NOT OR AND nile",
        '"' * 500 + "nile",
        "nile\x00river",
        "nile " * 5000,
    ],
)
def test_a_query_is_never_fts_syntax(folder: Path, query: str) -> None:
    assert "library:nile.md" in found(folder, query)
    assert len(FolderSearcher(Settings(), folder).pages) == 6


def test_files_that_cannot_be_read_are_listed_and_skipped(folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "empty.md").write_text("---\ntitle: Nothing\n---\n", encoding="utf-8")
    (folder / "large.txt").write_text("x" * 2000, encoding="utf-8")
    searcher = FolderSearcher(Settings(library=folder, page_bytes=1500))
    assert len(searcher.pages) == 6
    kinds = {failure.subject: failure.kind for failure in searcher.failures}
    assert kinds == {
        "broken.pdf": "unreadable",
        "empty.md": "no_text",
        "large.txt": "too_large",
    }


MERGES = "a0: &a0 {k: v}\n" + "".join(
    f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 8)
)


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: [open", "[open"),
        ("title: *unknown", "*unknown"),
        ("x: " + "[" * 700, "odd"),
        (MERGES, "odd"),
        ("- a\n- list", "odd"),
        ("title: {a: b}\nurl: javascript:alert(1)\ndate: 5", "{a: b}"),
    ],
)
def test_front_matter_is_lines_of_text_and_nothing_is_built_of_it(
    tmp_path: Path, front: str, title: str
) -> None:
    (tmp_path / "odd.md").write_text(f"---\n{front}\n---\nA line.", encoding="utf-8")
    started = time.monotonic()
    (page,) = FolderSearcher(Settings(), tmp_path).pages
    assert page.text.endswith("A line.")
    assert (page.title, page.reference) == (title, "")
    assert time.monotonic() - started < 20


def test_missing_and_empty_folders_say_what_to_set(tmp_path: Path) -> None:
    for folder, says in ((tmp_path / "none", "does not exist"), (tmp_path, "contains no articles")):
        with pytest.raises(SearchFailed, match=says) as caught:
            FolderSearcher(Settings(), folder).search("anything", 3)
        assert caught.value.kind == "search_failed"
        assert "--set library=" in str(caught.value)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4 broken")
    with pytest.raises(SearchFailed, match="1 cannot be read"):
        FolderSearcher(Settings(), tmp_path).search("anything", 3)


def test_the_index_is_built_again_after_a_change(folder: Path) -> None:
    assert found(folder, "Himalaya")
    (folder / "everest.md").write_text("All about the Matterhorn.", encoding="utf-8")
    os.utime(folder / "everest.md", ns=(1, 1))
    assert found(folder, "Himalaya") == []
    assert found(folder, "Matterhorn") == ["library:everest.md"]


def test_the_library_that_comes_along() -> None:
    searcher = FolderSearcher(Settings())
    assert len(searcher.pages) >= 20
    assert searcher.failures == ()
    assert all(page.facts_from.startswith("https://") and page.published for page in searcher.pages)
    assert {(page.reference, page.site) for page in searcher.pages} == {
        ("", "Attribution explorer, built-in library")
    }
    for claim, name in {
        "The Nile is about 6,650 kilometres long.": "nile",
        "Alexander Fleming discovered penicillin in 1928.": "penicillin",
    }.items():
        assert searcher.search(claim, 3)[0].url == f"library:{name}.md"
    assert searcher.search("The Mekong reaches the sea in Vietnam.", 3) == []
