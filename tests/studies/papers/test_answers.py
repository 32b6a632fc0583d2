import json
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main
from attribution.errors import BadInput
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Content
from attribution.studies.annotation.tasks import PROPERTIES, make_task, parse_tasks
from attribution.studies.papers import answers
from attribution.studies.papers.reproduce import beside, find
from tests.llm_server import error, llm_server
from tests.studies.annotation.made import say

ANSWER = (
    "Paris is the capital of France. It lies on the Seine. It lies on the Seine. Should you go?"
)


def test_claims_are_counted_before_and_after_repetitions() -> None:
    made = [
        {"sentences": 2, "a": [[10, 1, None], [20, 2, None]]},  # 3 claims, 2 unique, 50 characters
        {"sentences": 2, "a": [[40, 1, None]]},
    ]
    assert answers._segmentation(made) == {"a": (4, 3, 90 / 4, 4 / 4)}


def test_relations_are_shares_of_pairs_and_macro_means_are_of_answers() -> None:
    made: list[dict[str, list[str]]] = [
        {"x": ["entailed", "entailed", "no_relation", "missing"]},
        {"x": ["contradicted"], "y": ["missing"]},
    ]
    assert answers._shares(made) == {"x": (25.0, 50.0, 25.0), "y": (None, None, None)}
    assert answers._shares_with_missing(made)["x"] == (20.0, 40.0, 20.0, 20.0)
    assert answers._macro_shares(made)["x"] == pytest.approx((50.0, 33.35, 16.65), abs=0.01)
    pairs = [
        (relation, "claim", "passage")
        for relation in ("entailed", "no_relation", "no_relation", "missing")
    ]
    assert answers._verifiers([{"v": pairs}]) == {"v": (0, 1, 2, 66.7)}


def test_detection_of_dependent_claims_has_precision_recall_and_f1() -> None:
    # labelled not independent: 3; the first model finds 2 of them and one more, the second all
    judged = [
        ["spaCy", False, False, False],
        ["spaCy", False, False, False],
        ["factscore", False, True, False],
        ["factscore", True, False, True],
    ]
    found = answers._detection([judged])
    assert found["Overall"] == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1, 1, 1], abs=1e-4)
    assert found["spaCy"] == [1, 1, 1, 1, 1, 1] and found["factscore"][:3] == [0, 0, 0]


def test_the_difference_is_of_shares_and_means_not_of_counts() -> None:
    table = beside(find("V24.T1"), {"spaCy_sentences": [49, 40, 132.0, 1.0]})
    assert table.rows[0][:7] == ("spaCy_sentences", 938, 49, None, 855, 40, None)
    assert table.rows[0][9] == pytest.approx(132 - 103.2)
    (row,) = (
        r
        for r in beside(find("V24.T2"), {"spaCy_sentences": ["10/20", None, "0/0", "", ""]}).rows
        if r[2]
    )
    assert (
        row[:6] == ("spaCy_sentences", "3/15", "10/20", 30.0, "3/15", None) and row[9] is None
    )  # 50 % and 20 %


def write(folder: Path, **fields: object) -> Path:
    path = folder / "answers.jsonl"
    path.write_text(json.dumps({"question": "Where is Paris?", "answer": ANSWER, **fields}) + "\n")
    return path


def reproduced(folder: Path, number: str, *more: str, **fields: object) -> dict[str, Any]:
    """A table of one answer, as the command writes it."""
    command = [
        "reproduce",
        number,
        "--input",
        str(write(folder, **fields)),
        "--out",
        str(folder / "out"),
        *more,
    ]
    assert main([*command, "--set", "verifier=embedded-small"]) == 0
    found: dict[str, Any] = json.loads((folder / "out" / "table.json").read_text())
    return found


@pytest.fixture
def paris(tmp_path: Path) -> list[str]:
    """The source of the answer."""
    (tmp_path / "paris.txt").write_text(
        "Paris is the capital of France. The city lies on the Seine."
    )
    return ["--sources", str(tmp_path / "paris.txt")]


@pytest.mark.parametrize("own", [True, False])
def test_an_answers_own_documents_are_searched_in_place_of_the_library(
    own: bool, tmp_path: Path
) -> None:
    documents = {"documents": ["Paris is the capital of France."]} if own else {}
    (tmp_path / "paris.md").write_text(
        "# Paris\n\nParis lies on the Seine."
    )  # a library of one article
    made = reproduced(tmp_path, "V24.T9", "--set", f"library={tmp_path}", **documents)
    assert any(one["setting"] == "sources" for one in made["stood_in"]) is not own
    assert made["ours"]["SBert Baseline (Macro)"][1] > 0 or not own


@pytest.mark.parametrize("number", ["V24.T1", "v24.t3", "V24.T6", "V24.T8"])
def test_a_table_stands_beside_the_papers_figures(
    tmp_path: Path, number: str, paris: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = reproduced(tmp_path, number, *paris, "--preset", "v24")
    assert "clauses stands in for factscore" in capsys.readouterr().err
    text = (tmp_path / "out" / "table.md").read_text()
    assert (
        made["published"]
        and made["stood_in"]
        and "clauses stands in" in text
        and "sources" not in text
    )
    if number != "V24.T8":
        spacy = made["ours"]["spaCy_sentences"]
        assert spacy[:2] == ([3, 2] if number == "v24.t3" else [4, 3]) or spacy[0] == 3
        assert number == "v24.t3" or spacy[3] == 1  # by definition
        assert f"| {made['published']['spaCy_sentences'][0]} | {spacy[0]} |" in text
    else:
        shares = made["ours"]["Original Independent"]
        assert sum(shares) == pytest.approx(100, abs=0.2)
        again = reproduced(
            tmp_path, number, *paris, "--preset", "v24", "--sample", "40"
        )  # as many as there are
        assert again["ours"] == made["ours"]


def test_two_models_do_what_they_do_in_the_paper_and_their_figures_are_drawn(
    tmp_path: Path, paris: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[tuple[str, str]] = set()

    def reply(body: dict[str, Any]) -> str:
        text, model = body["messages"][-1]["content"], body["model"]
        for mark, task, said in (
            ("returns 3", "worthiness", "1"),
            ("not independent", "independence", "not independent"),
            ("Revised claim:", "enrichment", f"Paris, says {model}, lies on the Seine."),
            ("First fact", "factscore", '1. "It lies on the Seine."'),
            ("Atomic:", "direct", "1. Paris lies there."),
            ("Statement:", "fluency", '{"claims": ["It lies on the Seine."]}'),
        ):
            if mark in text:
                asked.add((task, model))
                return "independent" if task == "independence" and "says large" in text else said
        raise AssertionError(text)

    for number, made, figure in (
        ("V24.T3", {"direct", "factscore", "worthiness"}, "F3"),
        ("V24.T7", set(), "F2"),
    ):
        asked.clear()
        with llm_server(reply) as served:
            monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
            (out := tmp_path / number / "out").parent.mkdir()
            reproduced(
                tmp_path / number, number, "--preset", "v24", "--models", "small", "large", *paris
            )
        assert (out / f"{figure}.html").is_file()
        if made:
            assert {task for task, _ in asked} - {"fluency"} == made and (
                "worthiness",
                "large",
            ) not in asked
    assert asked == {(t, "small") for t in ("factscore", "worthiness", "enrichment")} | {
        (t, "large") for t in ("independence", "enrichment")
    }
    (line,) = (out / "answers.jsonl").read_text().splitlines()
    assert json.loads(line)["made"]["enriched"] == {"GPT3.5": [False, False], "GPT4": [True, True]}


def test_an_endpoint_without_embeddings_leaves_its_row_empty(
    tmp_path: Path, paris: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with llm_server(
        lambda body: error(404) if "input" in body else "1. Paris is the capital of France."
    ) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
        made = reproduced(tmp_path, "V24.T9", *paris, "--models", "tiny")
    assert "Ada 2.0" not in made["ours"] and "SBert Baseline (Macro)" in made["ours"]
    assert any(one["setting"] == "Ada 2.0" and "404" in one["needs"] for one in made["stood_in"])


def test_labelled_claims_are_needed_and_read_by_the_rules_without_a_model(tmp_path: Path) -> None:
    claims = [
        {"claim": "It lies on the Seine.", "independent": False, "segmenter": "spaCy"},
        {"claim": "Paris is the capital of France.", "independent": True, "segmenter": "spaCy"},
    ]
    command = ["reproduce", "V24.T5", "--out", str(tmp_path / "out"), "--input"]
    assert main([*command, str(write(tmp_path, claims=claims))]) == 0
    assert json.loads((tmp_path / "out" / "table.json").read_text())["ours"]["spaCy"] == [
        1,
        1,
        1,
        1,
        1,
        1,
    ]
    assert main([*command, str(write(tmp_path))]) == 1  # the row has no labels


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["V24.T10", "--out", "x"], "is not computed: it needs nothing: a prompt"),
        (["V24.T2", "--project", "x", "--out", "{}"], "of the form “A property of a claim”"),
        (["X1.T1", "--out", "x"], "is no table of the four papers"),
        (["V24.T1"], "give one with --out"),
        (["V24.T1", "--out", "{}"], "needs answers"),
        (["R23.T3", "--out", "{}"], "needs an annotation project"),
        (["T24.T3", "--out", "{}"], "needs labelled responses"),
    ],
)
def test_what_is_missing_is_said(
    tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *(a.format(tmp_path / "o") for a in arguments)]) == 2
    assert said in capsys.readouterr().err


def test_every_numbered_table_and_figure_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "list"]) == 0
    listed = {row["id"]: row for row in json.loads(capsys.readouterr().out)}
    wanted = {"V24": (14, 3), "W24": (10, 7), "R23": (12, 3), "T24": (5, 4)}
    ids = {
        f"{p}.{k}{n}"
        for p, counts in wanted.items()
        for k, m in zip("TF", counts, strict=True)
        for n in range(1, m + 1)
    }
    assert set(listed) == ids and all(row["needs"] for row in listed.values())
    computed = {i for i, row in listed.items() if row["computed"]}
    assert computed == {
        *(f"V24.T{n}" for n in range(1, 10)),
        *(f"W24.T{n}" for n in range(2, 8)),
        *(f"R23.T{n}" for n in range(3, 9)),
        *(f"T24.T{n}" for n in range(1, 5)),
    }


def test_bad_input_is_an_error_of_its_own() -> None:
    with pytest.raises(BadInput):
        from attribution.studies.papers.reproduce import find

        find("V24")


PEOPLE = {
    "yes": Content(interpretable=True, attributable=True),
    "no": Content(interpretable=False),
    "denied": Content(interpretable=True, attributable=False),
}


@pytest.mark.parametrize(
    ("number", "form", "said", "label", "figures"),
    [
        (
            "V24.T2",
            "property",
            {"a": ["yes", "no"], "b": ["yes"]},
            "spaCy_sentences",
            ["1/2", "1/1", None, None, None],
        ),
        (
            "V24.T4",
            "relation",
            {"a": ["yes", "no", "denied", "no"]},
            "Human - 256",
            [1, 1, 2, 50.0],
        ),
    ],
)
def test_people_judge_in_a_project(
    number: str,
    form: str,
    said: dict[str, list[str]],
    label: str,
    figures: list[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ATTRIBUTION_DATABASE_URL", f"sqlite:///{tmp_path}/people.sqlite3")
    saved = Annotations(Store.open(f"sqlite:///{tmp_path}/people.sqlite3").database)
    project = saved.create("study", form=form, overlap=1)
    datasets = (
        dict(zip(said, PROPERTIES, strict=False)) if form == "property" else dict.fromkeys(said, "")
    )
    for name, answers_given in said.items():
        for n, one in enumerate(answers_given):
            task = make_task(
                project.id, f"Claim {n}.", "Source.", system=label, dataset=datasets[name]
            )
            saved.add_tasks([task])
            say(saved, project, task.id, "ann", PEOPLE[one])
    assert main(["reproduce", number, "--project", "study", "--out", str(tmp_path / "out")]) == 0
    assert json.loads((tmp_path / "out" / "table.json").read_text())["ours"][label] == figures


@pytest.mark.parametrize(
    ("number", "count", "first"),
    [("V24.T2", 60, "Paris is the capital of France."), ("V24.T4", 2, "")],
)
def test_what_people_have_to_judge_is_written_as_tasks(
    number: str, count: int, first: str, tmp_path: Path, paris: list[str]
) -> None:
    reproduced(tmp_path, number, "--preset", "v24", *paris, "--sample", "1")
    tasks, problems = parse_tasks((tmp_path / "out" / "tasks.jsonl").read_bytes(), "p")
    assert not problems and len(tasks) == count and tasks[0].answer.startswith(first)
    assert "people judge" in (tmp_path / "out" / "table.md").read_text()
