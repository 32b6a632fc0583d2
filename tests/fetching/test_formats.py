import io
import zipfile
from pathlib import Path

import pytest

from attribution.errors import FetchFailed
from attribution.fetching.content_type import HTML, KINDS, READ, SUFFIXES
from attribution.fetching.formats import READERS, TEXT_READERS, extract
from attribution.fetching.page import Extracted
from pages.ui.fields import DOCUMENT_TYPES, FORMATS

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
CONTAINER = '<container><rootfiles><rootfile full-path="O/b.opf"/></rootfiles></container>'


def zipped(**members: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/"), text)
    return out.getvalue()


def docx(body: str, head: str = "") -> bytes:
    return zipped(
        **{"word__document.xml": f"{head}<w:document {W}><w:body>{body}</w:body></w:document>"}
    )


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def epub(*hrefs: str, **chapters: str | bytes) -> bytes:
    items = "".join(f'<item id="i{n}" href="{h}"/>' for n, h in enumerate(hrefs))
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(hrefs)))
    opf = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>'
        f"{spine}</spine></package>"
    )
    return zipped(**{"META-INF__container.xml": CONTAINER, "O__b.opf": opf, **chapters})


def read(content: bytes | str, name: str) -> Extracted:
    """Read a file that a visitor gives."""
    encoded = content if isinstance(content, bytes) else content.encode()
    return extract(encoded, "", name, document=True)


def test_every_kind_of_file_is_offered_and_documented() -> None:
    assert set(DOCUMENT_TYPES) == {suffix[1:] for suffix in SUFFIXES} >= {"srt", "vtt"}
    readers = READERS.keys() | TEXT_READERS.keys() | {HTML}
    assert set(SUFFIXES.values()) == readers - {READ}
    assert all(kind in FORMATS for kind in KINDS)
    assert all(kind in Path("docs/evidence.md").read_text("utf-8") for kind in KINDS)


BOMB = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("empty.docx", b"", "no_text"),
        ("blank.docx", docx(paragraph(" ")), "no_text"),
        ("noise.docx", bytes(range(256)), "wrong_type"),
        ("locked.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted"),
        ("bomb.docx", docx(paragraph("&b;"), BOMB), "unreadable"),
        ("parts.docx", zipped(other="x"), "unreadable"),
        ("broken.docx", docx("<w:p>"), "unreadable"),
        ("path.epub", epub("../../../etc/passwd"), "no_text"),
        ("empty.eml", b"MIME-Version: 1.0\nContent-Type: image/png\n\n", "no_text"),
        ("rights.epub", epub(**{"META-INF__rights.xml": "x"}), "encrypted"),
    ],
)
def test_each_failure_has_its_kind(name: str, content: bytes, kind: str) -> None:
    with pytest.raises(FetchFailed) as failed:
        read(content, name)
    assert failed.value.kind == kind
    assert name in str(failed.value)


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.epub"])
def test_a_text_under_the_name_of_a_file_is_a_text(name: str) -> None:
    assert read("The tower opened.", name).text == "The tower opened."
