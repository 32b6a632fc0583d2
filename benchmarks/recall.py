"""Measure how many words of files are read: python -m benchmarks.recall FOLDER

Each file's words are counted in an independent reading: pdfium's own text of a PDF, all text of the XML of other kinds.
Prints, for each kind, the number of files, the median recall, the share below 0.9, seconds, and the files that failed.
"""

from __future__ import annotations

import argparse
import re
import time
import unicodedata
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

from attribution.errors import FetchFailed
from attribution.fetching.formats import extract

_WORD = re.compile(r"[\u2e80-\uabff]|[^\W_\u2e80-\uabff]+")  # a character of Chinese and Japanese, which have no blanks
_UNSEEN = " or ".join(f"local-name()='{name}'" for name in "script audio video object iframe math".split())
_XML = {
    ".docx": re.compile(r"word/(?:document|footnotes|endnotes)\.xml"),
    ".epub": re.compile(r"(?!.*\b(?:nav|toc)\b).*\.x?html?"),
}


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def independent(path: Path) -> str:
    """The text of a file, read in another way than the program's."""
    import lxml.etree
    import lxml.html

    if path.suffix.lower() == ".pdf":
        import pypdfium2

        pages = pypdfium2.PdfDocument(path)
        return "\n".join(page.get_textpage().get_text_range().replace("\ufffe", "") for page in pages)
    if path.suffix.lower() not in _XML:
        tree = lxml.html.fromstring(path.read_bytes())
        return " ".join(tree.xpath("//article//p//text()|//main//p//text()"))
    texts = []
    archive = zipfile.ZipFile(path)
    for member in filter(_XML[path.suffix.lower()].fullmatch, archive.namelist()):
        parser = lxml.etree.XMLParser(recover=True, resolve_entities=False)
        root = lxml.etree.fromstring(archive.read(member), parser)
        if path.suffix.lower() == ".docx":
            for unread in [*root.iter("{*}Fallback", "{*}moveFrom")]:  # copies of what stands elsewhere
                unread.getparent().remove(unread)
            for element in root.iter("{*}p"):
                written = element.iter("{*}t", "{*}tab", "{*}br")
                texts.append("".join(t.text or " " for t in written if next(t.iterancestors("{*}p")) is element))
        else:
            texts += root.xpath(f"//*[local-name()='body']//text()[not(ancestor::*[{_UNSEEN}])]")
    return "\n".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    recalls, seconds = defaultdict[str, dict[str, float]](dict), defaultdict[str, float](float)
    for path in sorted(p for p in arguments.folder.rglob("*") if p.suffix.lower() in (".pdf", ".html", *_XML)):
        kind = path.suffix.lower()
        try:
            expected = words(independent(path))
        except Exception as error:
            print(f"no independent reading of {path.name}: {error!r:.100}")
            continue
        started = time.process_time()
        try:
            found = words(extract(path.read_bytes(), "", path.name, document=True).text)
        except FetchFailed as failure:
            print(
                f"{failure}" if expected.total() > 20 else f"{path.name}: {failure.kind}, and {expected.total()} words"
            )
            continue
        finally:
            seconds[kind] += time.process_time() - started
        if expected:
            recalls[kind][path.name] = (expected & found).total() / expected.total()
    for kind, files in recalls.items():
        low = sum(recall < 0.9 for recall in files.values()) / len(files)
        middle = median(files.values())
        print(f"{kind}: {len(files)} files, median {middle:.4f}, {low:.1%} below 0.9, {seconds[kind]:.1f} s")
        for name, recall in sorted(files.items(), key=lambda item: item[1])[:5]:
            print(f"    {recall:.3f} {name}")


if __name__ == "__main__":
    main()
