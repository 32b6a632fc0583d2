import json
import math
from itertools import groupby
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.studies.papers.decompositions import MEASURES, _by_system, _correlations
from tests.llm_server import claims, llm_server

YES, NO = {"coherent": True, "supported": True}, {"coherent": True, "supported": False}
LOST = {"coherent": False, "supported": False}


def answer(system: str, *subclaims: dict[str, bool], **given: float) -> dict[str, object]:
    names = ("R-ND", "Chen", "WiCE", "FActScore", "FActScore-2", "CoNLL-U", "PredPatt")
    return {"system": system, "made": dict.fromkeys(names, list(subclaims)), **given}


ANSWERS = [answer("A", YES, NO, LOST), answer("A", YES), answer("B", NO, LOST)]


@pytest.mark.parametrize(
    ("number", "a", "b"),
    [
        ("T2", 1.5, 1.0),  # (2 + 1) / 2 and 1
        ("T3", 2.0, 2.0),
        ("T6", 75.0, 50.0),  # 3 of 4, 1 of 2
        # precision 1/3 and 1, each times exp(1 - 10 / facts)
        ("T4", 50 * (math.exp(1 - 10 / 3) / 3 + math.exp(1 - 10)), 0.0),
        (
            "T5",
            50 * (math.exp(1 - 10 / 2) / 2 + math.exp(1 - 10)),
            0.0,
        ),  # without the subclaim that is not coherent
    ],
)
def test_figures_by_system_and_their_macro_average(number: str, a: float, b: float) -> None:
    rows = _by_system(ANSWERS, MEASURES[number])
    assert rows["A"] == pytest.approx([a] * 7) and rows["B"] == pytest.approx([b] * 7)
    assert rows["Macro-average"] == pytest.approx([(a + b) / 2] * 7)  # each system counts once


def test_correlation_with_another_judges_figures() -> None:
    given = [
        answer("A", *[YES] * 10, factscore=90, facts=9),
        answer("B", *[YES] * 6, *[NO] * 6, factscore=60, facts=13),
        answer("C", *[NO] * 11, factscore=10, facts=11),
    ]
    rows = _correlations(given)
    assert rows["B"] == pytest.approx([50, 60, 12, 13])
    # by hand: deviations (50, 0, -50) and (110/3, 20/3, -130/3); (-1, 1, 0) and (-2, 2, 0)
    assert [rows["ρ"][0], rows["ρ"][2]] == [None, None]
    assert rows["ρ"][1::2] == pytest.approx(
        [4000 / math.sqrt(5000 * (110**2 + 20**2 + 130**2) / 9), 1.0]
    )


def test_the_other_judges_figures_are_looked_for_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"answer": "Ada was a poet.", "factscore": 50}\n')
    assert main(["reproduce", "W24.T7", "--input", str(path), "--out", str(tmp_path / "out")]) != 0
    assert 'line 1 has no "factscore" and "facts"' in capsys.readouterr().err
    assert not (tmp_path / "out" / "answers.jsonl").exists()


@pytest.mark.parametrize("number", ["W24.T2", "W24.T4"])
def test_a_table_by_system_with_a_plot(tmp_path: Path, number: str) -> None:
    source, path = tmp_path / "ada.txt", tmp_path / "answers.jsonl"
    source.write_text("Ada Lovelace was an English mathematician and writer.")
    rows = [
        {"answer": "Ada Lovelace was a mathematician and a writer.", "system": s}
        for s in ("x", "y")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [
        "reproduce",
        number,
        "--input",
        str(path),
        "--out",
        str(tmp_path / "out"),
        "--sources",
        str(source),
    ]
    assert main([*command, "--set", "verifier=embedded-small", "--preset", "w24"]) == 0
    made = json.loads((tmp_path / "out" / "table.json").read_text())
    assert set(made["ours"]) == {"x", "y", "Macro-average"} and len(made["ours"]["x"]) == 7
    assert {one["wanted"] for one in made["stood_in"]} >= {"r_nd", "wice", "factscore-2"}
    assert (tmp_path / "out" / ("F3.html" if number == "W24.T2" else "F2.html")).is_file()


def test_all_answers_are_asked_by_one_prompt_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Local servers keep what they have read of the last prompt."""
    path = tmp_path / "answers.jsonl"
    path.write_text(
        "".join(
            json.dumps({"answer": f"Ada {name} was a poet.", "system": "x"}) + "\n"
            for name in "ABC"
        )
    )
    command = [
        "reproduce",
        "W24.T3",
        "--input",
        str(path),
        "--out",
        str(tmp_path / "out"),
        "--preset",
        "w24",
    ]
    with llm_server(lambda body: claims("Ada was a poet.")) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
        monkeypatch.setenv("OPENAI_MODEL", "tiny")
        assert main([*command, "--set", "verifier=embedded-small", "--set", "llm_workers=1"]) == 0
    starts = [json.loads(body)["messages"][-1]["content"][:60] for _, _, _, body in served.requests]
    runs = [start for start, _ in groupby(starts)]
    assert len(starts) == 18 and len(runs) == len(set(runs))
    made = json.loads((tmp_path / "out" / "table.json").read_text())
    assert ("gpt-3.5-turbo-instruct and Inst-LLAMA", "tiny") in {
        (s["wanted"], s["taken"]) for s in made["stood_in"]
    }
