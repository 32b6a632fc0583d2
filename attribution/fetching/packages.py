"""Open files that are ZIP archives of XML, within limits."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from attribution.errors import FetchFailed

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_MEMBER = 50_000_000  # bytes of one unpacked member
MAX_TOTAL = 100_000_000  # bytes of all members that are read
TITLE = "{http://purl.org/dc/elements/1.1/}title"
_UTF_8_NAME = 0x800  # flag of a member whose name is UTF-8; Info-ZIP writes such names without it
_ENCRYPTED = 0x1
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0"  # of an Office file with a password


class Relation(NamedTuple):
    """A part of an Office file that another part names."""

    id: str
    kind: str  # as "footnotes"
    path: str


class Package:
    """An open package.

    Raises:
        FetchFailed: encrypted, or wrong_type where the bytes are not a ZIP archive.
    """

    def __init__(self, content: bytes, name: str) -> None:
        self.name = name
        self._bytes_left = MAX_TOTAL
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except zipfile.BadZipFile:
            if content.startswith(_OLE_SIGNATURE):
                raise self._encrypted() from None
            kind = name.rpartition(".")[2][:8].upper()
            message = f"{name} is not a {kind} file; save it again"
            raise FetchFailed("wrong_type", message, name) from None
        self.members = {_member_name(info): info for info in self._zip.infolist()}

    def read(self, member: str) -> bytes:
        """Return a member's bytes, counted while unpacking: the declared size may be a lie.

        Raises:
            FetchFailed: unreadable (no such member), encrypted or too_large.
        """
        info = self.members.get(member)
        if info is None:
            message = f"{self.name} lacks its part {member[:80]!r}; save it again"
            raise FetchFailed("unreadable", message, self.name)
        if info.flag_bits & _ENCRYPTED:
            raise self._encrypted()
        limit = min(MAX_MEMBER, self._bytes_left)
        with self._zip.open(info) as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            message = f"{self.name} unpacks to more than {limit:,} bytes; split it"
            raise FetchFailed("too_large", message, self.name)
        self._bytes_left -= len(data)
        return data

    def xml(self, member: str) -> _Element:
        """Return a member's root element.

        Raises:
            FetchFailed: unreadable where it declares entities, of which bombs are made.
        """
        root = parse_xml(self.read(member))
        declarations = root.getroottree().docinfo.internalDTD
        if declarations is not None and any(True for _ in declarations.iterentities()):
            message = f"{self.name} declares XML entities, which are not read"
            raise FetchFailed("unreadable", message, self.name)
        return root

    def title(self, member: str) -> str:
        """Return the title in a member with metadata; empty if there is none."""
        return self.xml(member).findtext(f".//{TITLE}") or "" if member in self.members else ""

    def related(self, part: str) -> Iterator[Relation]:
        """Yield the parts of the file that a part names; "" is the file itself."""
        folder, name = posixpath.split(part)
        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations not in self.members:
            return
        for relation in self.xml(relations):
            path = posixpath.join("/", folder, relation.get("Target") or "")
            path = posixpath.normpath(path).lstrip("/")
            kind = (relation.get("Type") or "").rpartition("/")[2]
            if path in self.members:
                yield Relation(relation.get("Id") or "", kind, path)

    def main_part(self, usual: str) -> str:
        """Return the part of an Office file with its text, or with its order."""
        mains = [part.path for part in self.related("") if part.kind == "officeDocument"]
        return mains[0] if mains else usual

    def _encrypted(self) -> FetchFailed:
        message = f"{self.name} is encrypted; save it without a password"
        return FetchFailed("encrypted", message, self.name)


def parse_xml(content: bytes) -> _Element:
    """Return the root element of XML whose entities are not expanded."""
    import lxml.etree

    parser = lxml.etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    root: _Element = lxml.etree.fromstring(content, parser)
    return root


def _member_name(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _UTF_8_NAME:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename
