"""ZIP files of JSON with a manifest: the same bytes for the same content. Reading one trusts nothing in it.

Members are read document by document, a line of a .jsonl member or the whole of a .json one, and never held in memory.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.text.json_lines import VALUES, count_values
from attribution.types import Frozen

MANIFEST = "manifest.json"
FILE_LIMIT, TOTAL_LIMIT = (
    50_000_000,
    200_000_000,
)  # bytes, packed and unpacked: 200 runs have 20 to 80 million
DOCUMENT_LIMIT, DOCUMENTS = 32_000_000, 100_000  # bytes of one document, and documents of a member
RATIO, FLOOR = 50, 1_000_000  # unpacked bytes for each packed one, beyond the first ones; real files have 3 to 10
_EPOCH = (1980, 1, 1, 0, 0, 0)
_END, _END_64, _END_SIZE = b"PK\x05\x06", b"PK\x06\x07", 22


class Manifest(Frozen):
    format: str
    version: int
    sha256: dict[str, str]  # of each member


class Format(NamedTuple):
    """A kind of file."""

    name: str
    version: int
    members: tuple[str, ...]
    noun: str  # for messages
    again: str  # how to get a good file

    def bad(self, problem: str) -> BadInput:
        return BadInput(f"not a usable {self.noun} file ({problem}): {self.again}")


class Unpacked:
    """An archive that `unpack` has checked."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def document(self, member: str) -> bytes:
        """The whole of a .json member."""
        return next(self.documents(member), b"")

    def documents(self, member: str) -> Iterator[bytes]:
        """The documents of a member, one at a time."""
        with self._archive.open(member) as packed:
            stream = io.BufferedReader(packed, 1 << 16)  # type: ignore[type-var]
            read = stream.readline if member.endswith(".jsonl") else stream.read
            while document := read(DOCUMENT_LIMIT + 1):
                yield document


def pack(kind: Format, contents: Mapping[str, bytes]) -> bytes:
    """The file. BadInput where it would be too large to be read again."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = Manifest(format=kind.name, version=kind.version, sha256=hashes).model_dump_json(indent=1).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in {MANIFEST: manifest, **contents}.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16  # the same on every system
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 6)
    unpack(kind._replace(again="export it in parts"), packed.getvalue())
    return packed.getvalue()


def unpack(kind: Format, data: bytes) -> Unpacked:
    """The file, its members checked against the limits and their hashes. BadInput says what is wrong."""
    if len(data) > FILE_LIMIT:
        raise kind.bad(f"{len(data):,} bytes; the limit is {FILE_LIMIT:,}")
    # Checked before zipfile reads the directory: millions of entries would fill the memory.
    end = data[-_END_SIZE:]
    if not end.startswith(_END) or data[-_END_SIZE - 20 : -_END_SIZE].startswith(_END_64):
        raise kind.bad("not a plain ZIP file")
    if int.from_bytes(end[10:12], "little") != len(kind.members) + 1 or int.from_bytes(end[12:16], "little") > 2000:
        raise kind.bad(f"it does not have the members of a {kind.noun}")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        if [info.filename for info in archive.infolist()] != [MANIFEST, *kind.members]:
            raise kind.bad(f"it does not have the members of a {kind.noun}")
        for info in archive.infolist():
            if info.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED) or info.flag_bits & 1:
                raise kind.bad(f"{info.filename} is encrypted or uses an unknown compression")
        unpacked = Unpacked(archive)
        manifest = Manifest.model_validate_json(unpacked.document(MANIFEST))
        hashes = _checked(kind, unpacked, min(TOTAL_LIMIT, FLOOR + RATIO * len(data)))
    except ValidationError:  # a ValueError, too
        raise kind.bad(f"{MANIFEST} is not valid") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise kind.bad(f"damaged: {error}") from None
    if (manifest.format, manifest.version) != (kind.name, kind.version):
        raise BadInput(
            f"the file has format {manifest.format[:40]!r}, version {manifest.version}; this explorer reads "
            f"{kind.name!r}, version {kind.version}: update the explorer, or export the {kind.noun} again"
        )
    for name, found in hashes.items():
        if found != manifest.sha256.get(name):
            raise kind.bad(f"{name} does not match its hash in the manifest: it was damaged or changed")
    return unpacked


def _checked(kind: Format, unpacked: Unpacked, most: int) -> dict[str, str]:
    """The hash of each member. BadInput where one exceeds a limit, before more of it is unpacked."""
    hashes, total = {}, 0
    for name in kind.members:
        sha256 = hashlib.sha256()
        for number, document in enumerate(unpacked.documents(name), 1):
            total += len(document)
            if total > most:
                raise kind.bad(f"more than {most:,} bytes when unpacked")
            if len(document) > DOCUMENT_LIMIT or count_values(document) > VALUES:
                raise kind.bad(f"line {number} of {name} has more than {DOCUMENT_LIMIT:,} bytes or {VALUES:,} values")
            if number > DOCUMENTS:
                raise kind.bad(f"{name} has more than {DOCUMENTS:,} lines")
            sha256.update(document)
        hashes[name] = sha256.hexdigest()
    return hashes


def invalid(kind: Format, error: ValidationError) -> BadInput:
    """What does not match the schema, and where."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or "line"
    return kind.bad(f"{error.title} {where[:80]}: {first['msg'][:120]}")
