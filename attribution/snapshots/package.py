"""ZIP files of JSON with a manifest: the same bytes for the same content. Reading one trusts nothing in it."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.types import Frozen

MANIFEST = "manifest.json"
FILE_LIMIT, TOTAL_LIMIT = 100_000_000, 400_000_000  # bytes, packed and unpacked
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


def pack(kind: Format, contents: Mapping[str, bytes]) -> bytes:
    """The file. BadInput where it would be too large to be read again."""
    if (total := sum(map(len, contents.values()))) > TOTAL_LIMIT:
        raise BadInput(f"the {kind.noun} has {total:,} bytes; the limit is {TOTAL_LIMIT:,}: export it in parts")
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = Manifest(format=kind.name, version=kind.version, sha256=hashes).model_dump_json(indent=1).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in {MANIFEST: manifest, **contents}.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16  # the same on every system
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 6)
    return packed.getvalue()


def unpack(kind: Format, data: bytes) -> dict[str, bytes]:
    """The members, each unpacked up to the limit only and checked against its hash. BadInput says what is wrong."""
    if len(data) > FILE_LIMIT:
        raise kind.bad(f"{len(data):,} bytes; the limit is {FILE_LIMIT:,}")
    # Checked before zipfile reads the directory: millions of entries would fill the memory.
    end = data[-_END_SIZE:]
    if not end.startswith(_END) or data[-_END_SIZE - 20 : -_END_SIZE].startswith(_END_64):
        raise kind.bad("not a plain ZIP file")
    if int.from_bytes(end[10:12], "little") != len(kind.members) + 1 or int.from_bytes(end[12:16], "little") > 2000:
        raise kind.bad(f"it does not have the members of a {kind.noun}")
    contents: dict[str, bytes] = {}
    budget = TOTAL_LIMIT
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if [info.filename for info in archive.infolist()] != [MANIFEST, *kind.members]:
                raise kind.bad(f"it does not have the members of a {kind.noun}")
            for info in archive.infolist():
                if info.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED) or info.flag_bits & 1:
                    raise kind.bad(f"{info.filename} is encrypted or uses an unknown compression")
                with archive.open(info) as member:
                    contents[info.filename] = member.read(budget + 1)
                budget -= len(contents[info.filename])
                if budget < 0:
                    raise kind.bad(f"more than {TOTAL_LIMIT:,} bytes when unpacked")
        manifest = Manifest.model_validate_json(contents.pop(MANIFEST))
    except ValidationError:  # a ValueError, too
        raise kind.bad(f"{MANIFEST} is not valid") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise kind.bad(f"damaged: {error}") from None
    if (manifest.format, manifest.version) != (kind.name, kind.version):
        raise BadInput(
            f"the file has format {manifest.format[:40]!r}, version {manifest.version}; this explorer reads "
            f"{kind.name!r}, version {kind.version}: update the explorer, or export the {kind.noun} again"
        )
    for name, content in contents.items():
        if hashlib.sha256(content).hexdigest() != manifest.sha256.get(name):
            raise kind.bad(f"{name} does not match its hash in the manifest: it was damaged or changed")
    return contents


def lines(content: bytes) -> list[bytes]:
    """The lines of a JSON Lines member."""
    return [line for line in content.split(b"\n") if line]


def invalid(kind: Format, error: ValidationError) -> BadInput:
    """What does not match the schema, and where."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or "line"
    return kind.bad(f"{error.title} {where[:80]}: {first['msg'][:120]}")
