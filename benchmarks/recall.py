"""Measure how many words of files are read: python -m benchmarks.recall FOLDER

Each file's words are counted in an independent reading: pdfium's own text of a PDF, all text of the
XML of DOCX and EPUB, what people took from a web page (page.txt beside page.html), which
trafilatura by itself reads too. Prints, for each, the number of files, the median recall, the share
below 0.9, mean precision and F1, seconds, and the worst files.
"""

from __future__ import annotations

import argparse
import re
import time
import unicodedata
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean, median

import trafilatura

from attribution.errors import FetchFailed
from attribution.fetching.formats import extract

_WORD = re.compile(
    r"[\u2e80-\uabff]|[^\W_\u2e80-\uabff]+"
)  # a character of Chinese and Japanese, which have no blanks
_UNSEEN = " or ".join(
    f"local-name()='{name}'" for name in "script style audio video object iframe math".split()
)
_XML = {
    ".docx": re.compile(r"word/(?:document|footnotes|endnotes)\.xml"),
    ".epub": re.compile(r"(?!.*\b(?:nav|toc)\b).*\.x?html?"),
}


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def independent(path: Path) -> str:
    """The text of a file, read in another way than the program's."""
    import lxml.etree

    if path.suffix.lower() == ".pdf":
        import pypdfium2

        pages = pypdfium2.PdfDocument(path)
        return "\n".join(
            page.get_textpage().get_text_range().replace("\ufffe", "") for page in pages
        )
    if path.suffix.lower() not in _XML:
        return path.with_suffix(".txt").read_text("utf-8")
    texts = []
    archive = zipfile.ZipFile(path)
    for member in filter(_XML[path.suffix.lower()].fullmatch, archive.namelist()):
        parser = lxml.etree.XMLParser(recover=True, resolve_entities=False)
        root = lxml.etree.fromstring(archive.read(member), parser)
        if path.suffix.lower() == ".docx":
            for unread in [
                *root.iter("{*}Fallback", "{*}moveFrom")
            ]:  # copies of what stands elsewhere
                unread.getparent().remove(unread)
            for element in root.iter("{*}p"):
                written = element.iter("{*}t", "{*}tab", "{*}br")
                texts.append(
                    "".join(
                        t.text or " " for t in written if next(t.iterancestors("{*}p")) is element
                    )
                )
        else:
            texts += root.xpath(f"//*[local-name()='body']//text()[not(ancestor::*[{_UNSEEN}])]")
    return "\n".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    measured = defaultdict[str, list[tuple[float, float, str]]](list)
    seconds = defaultdict[str, float](float)
    for path in sorted(
        p for p in arguments.folder.rglob("*") if p.suffix.lower() in (".pdf", ".html", *_XML)
    ):
        kind, content = path.suffix.lower(), path.read_bytes()
        try:
            expected = words(independent(path))
        except Exception as error:
            print(f"no independent reading of {path.name}: {error!r:.100}")
            continue
        for reader in [kind, "trafilatura"] if kind == ".html" else [kind]:
            started, text = time.process_time(), ""
            try:
                if reader == kind:
                    text = extract(content, "", path.name, document=True).text
                else:
                    text = trafilatura.extract(content, include_comments=False) or ""
            except FetchFailed as failure:
                print(f"{failure}, of {expected.total()} words")
            seconds[reader] += time.process_time() - started
            if expected and (text or kind == ".html"):
                same = (expected & (found := words(text))).total()
                measured[reader].append(
                    (same / expected.total(), same / max(found.total(), 1), path.name)
                )
    for reader, files in measured.items():
        recalls, precisions, _ = zip(*files, strict=True)
        f1 = fmean(
            2 * recall * precision / ((recall + precision) or 1) for recall, precision, _ in files
        )
        low = sum(recall < 0.9 for recall in recalls) / len(files)
        print(
            f"{reader}: {len(files)} files, median {median(recalls):.4f}, {low:.1%} below 0.9, ",
            end="",
        )
        print(f"precision {fmean(precisions):.3f}, F1 {f1:.3f}, {seconds[reader]:.1f} s")
        print(*(f"    {recall:.3f} {name}" for recall, _, name in sorted(files)[:5]), sep="\n")


if __name__ == "__main__":
    main()
