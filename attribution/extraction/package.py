"""A ZIP package (DOCX, EPUB), read member by member in memory: nothing is unpacked to a path, every size is bounded."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from attribution.errors import FetchFailed

MAX_MEMBER = 50_000_000  # bytes of one unpacked member …
MAX_TOTAL = 100_000_000  # … and of all members that are read


class Package:
    """An open package. FetchFailed: encrypted, or wrong_type where the bytes are not a ZIP archive."""

    def __init__(self, content: bytes, name: str) -> None:
        self._name, self._left = name, MAX_TOTAL
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except zipfile.BadZipFile:
            if content.startswith(b"\xd0\xcf\x11\xe0"):  # an Office file with a password is an OLE container
                raise self._encrypted() from None
            message = f"{name} is not a {name.rpartition('.')[2][:8].upper()} file; save it again"
            raise FetchFailed("wrong_type", message, name) from None
        self.members = frozenset(self._zip.namelist())

    def read(self, member: str) -> bytes:
        """The member's bytes. They are counted while unpacking, because the size that an archive declares may be a lie.

        FetchFailed: unreadable (no such member), encrypted or too_large.
        """
        if member not in self.members:
            raise FetchFailed("unreadable", f"{self._name} lacks its part {member[:80]!r}; save it again", self._name)
        if self._zip.getinfo(member).flag_bits & 1:
            raise self._encrypted()
        limit = min(MAX_MEMBER, self._left)
        with self._zip.open(member) as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise FetchFailed("too_large", f"{self._name} unpacks to more than {limit:,} bytes; split it", self._name)
        self._left -= len(data)
        return data

    def xml(self, member: str) -> Any:
        """The member's root element. FetchFailed(unreadable) for a document type, where entity bombs are declared."""
        import lxml.etree  # type: ignore[import-untyped]

        parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = lxml.etree.fromstring(self.read(member), parser)
        if root.getroottree().docinfo.internalDTD is not None:
            raise FetchFailed("unreadable", f"{self._name} declares XML entities, which are not read", self._name)
        return root

    def _encrypted(self) -> FetchFailed:
        return FetchFailed("encrypted", f"{self._name} is encrypted; save it without a password", self._name)
