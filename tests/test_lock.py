import re

import pytest

from attribution.settings import ROOT

NAME = re.compile(r"[-_.]+")
ENTRY = re.compile(
    r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;\\]+)([^\n]*(?:\n    [^\n]+)*)", re.MULTILINE
)


def pinned(file: str) -> dict[str, str]:
    """Versions by normal name, those of included files too."""
    text = (ROOT / file).read_text("utf-8")
    found = {NAME.sub("-", name.lower()): version for name, version, _ in ENTRY.findall(text)}
    for other in re.findall(r"^-r (\S+)", text, re.MULTILINE):
        found |= pinned(other)
    return found


def locked(file: str) -> list[tuple[str, str, list[str]]]:
    """Name, version and hashes of each entry."""
    text = (ROOT / file).read_text("utf-8")
    entries = [
        (NAME.sub("-", name.lower()), version, re.findall(r"--hash=sha256:([0-9a-f]{64})\b", rest))
        for name, version, rest in ENTRY.findall(text)
    ]
    assert len(entries) == len(re.findall(r"^[^\s#]", text, re.MULTILINE))  # there is no other line
    return entries


LOCKS = {
    "requirements.lock": "requirements.txt",
    "requirements-dev.lock": "requirements-dev.txt",
    "requirements-base.lock": "requirements-base.txt",
}
TORCH = "requirements-torch.lock"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_locked_in_its_version(lock: str) -> None:
    have = {(name, version) for file in (lock, TORCH) for name, version, _ in locked(file)}
    missing = set(pinned(LOCKS[lock]).items()) - have
    assert not missing, f"{lock} lacks {missing}: make lock"


@pytest.mark.parametrize(
    "lock", [*LOCKS, TORCH, "requirements-torch-cpu.lock", "requirements-uv.lock"]
)
def test_every_locked_package_has_a_hash_and_comes_from_no_named_place(lock: str) -> None:
    assert [name for name, _, hashes in locked(lock) if not hashes] == []
    assert not re.search(r"--(extra-)?index|--find-links|://| @ ", (ROOT / lock).read_text("utf-8"))


def test_what_runs_is_what_is_tested() -> None:
    run, dev = (
        {(name, version) for name, version, _ in locked(f)}
        for f in ("requirements.lock", "requirements-dev.lock")
    )
    assert run <= dev
