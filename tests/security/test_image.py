import re
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]


def in_image(path: str) -> bool:
    """Does `COPY . .` take the file? The last pattern of .dockerignore that fits it, or a folder
    around it, decides.
    """
    ignored = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern = (
                re.escape(line.removeprefix("!"))
                .replace(r"\*\*/", "(?:.*/)?")
                .replace(r"\*", "[^/]*")
            )
            places = [PurePosixPath(path), *PurePosixPath(path).parents][:-1]
            if any(re.fullmatch(pattern, str(place)) for place in places):
                ignored = not line.startswith("!")
    return not ignored


@pytest.mark.parametrize(
    "path",
    [
        ".streamlit/secrets.toml",
        ".env.local",
        "attribution/.env",
        "attribution.sqlite3-wal",
        "examples/attribution.sqlite3",
        "id_rsa",
        "compose.override.yaml",
        ".git/config",
        ".netrc",
        "data/eval/set.jsonl",
        "report.json",
        ".venv/bin/python",
    ],
)
def test_secrets_and_data_stay_out_of_the_image(path: str) -> None:
    assert not in_image(path)


def test_the_image_installs_only_what_has_a_hash() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    installs = re.findall(r"pip install (\S+ [^\s)]+)", dockerfile)
    assert len(installs) >= 4
    assert all(re.fullmatch(r"-r [\w-]+\.lock", what) for what in installs)
    assert "PIP_REQUIRE_HASHES=1" in dockerfile
    assert "PIP_REQUIRE_HASHES=0" not in dockerfile
