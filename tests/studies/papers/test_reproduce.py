import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from attribution.cli.main import main
from attribution.files import Row
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Content
from attribution.studies.annotation.tasks import PROPERTIES, make_task, parse_tasks
from attribution.studies.papers import w24
from attribution.studies.papers.reproduce import Reproduced, TableInputs, reproduce
from attribution.types import Document
from tests.llm_server import asked, error, llm_server
from tests.studies.annotation.made import say

Table = dict[str, Any]
ANSWER = (
    "Paris is the capital of France. It lies on the Seine. It lies on the Seine. Should you go?"
)
PARIS = {"question": "Where is Paris?", "answer": ANSWER}
DOCUMENT = "Paris is the capital of France. The city lies on the Seine."


def reproduced(folder: Path, number: str, rows: list[Any], *more: str, status: int = 0) -> Table:
    """Return table.json as the command writes it."""
    folder.mkdir(exist_ok=True)
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = ["--input", str(path), "--out", str(folder / "out")]
    assert main(["reproduce", number, *files, "--set", "verifier=embedded-small", *more]) == status
    table: Table = json.loads((folder / "out" / "table.json").read_text())
    return table


def test_the_tables_that_can_be_computed_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "list"]) == 0
    listed = {row["id"] for row in json.loads(capsys.readouterr().out)}
    assert listed == {
        *(f"V24.T{n}" for n in (1, 2, 3, 4, 5, 7, 8, 9)),
        *(f"{paper}.F{n}" for paper in ("V24", "W24") for n in (2, 3)),
        *(f"W24.T{n}" for n in range(2, 8)),
        *(f"R23.T{n}" for n in range(3, 9)),
        *(f"T24.T{n}" for n in range(2, 5)),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["V24.T10", "--out", "x"], "V24.T10 is not computed; expected one of V24.T1"),
        (["X1.T1", "--out", "x"], "X1.T1 is not computed"),
        (["V24.T1"], "give one with --out"),
        (["V24.T1", "--out", "{}"], "needs answers"),
        (["V24.T2", "--project", "x", "--out", "{}"], "of the form “A property of a claim”"),
        (["R23.T3", "--out", "{}"], "needs an annotation project"),
        (["V24.T1", "--models", "GPT-9=x", "--out", "{}"], "no language model 'GPT-9'"),
        (["T24.T3", "--out", "{}"], "needs labelled responses"),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *(a.format(tmp_path / "o") for a in arguments)]) == 2
    assert message in capsys.readouterr().err


def test_raw_sentences_count_as_often_as_they_are_said(tmp_path: Path) -> None:
    answer = "2. **Age**: Paris is old.\n\n\nIt lies on the Seine. It lies on the Seine."
    made = reproduced(tmp_path, "V24.T1", [{"answer": answer}])
    claims, unique, length, a_sentence = made["ours"]["spaCy_sentences"]
    assert claims == unique + 1
    assert a_sentence == 1
    assert length == pytest.approx(20, abs=5)
    text = (tmp_path / "out" / "table.md").read_text()
    assert "| spaCy_sentences | published | 938 | 855 |" in text.replace("\\_", "_")
    assert f"{length:.1f}" in text


def test_worthiness_is_counted_and_compared_with_peoples(tmp_path: Path) -> None:
    claims = [
        {"claim": "Paris lies on the Seine.", "worthiness": "factual"},
        {"claim": "Should you go?", "worthiness": "factual"},
        {"claim": "Thanks!", "worthiness": "other"},
    ]
    made = reproduced(tmp_path, "V24.T3", [{**PARIS, "claims": claims}])
    assert list(made["ours"]) == ["spaCy_sentences"]  # the others' models are not here
    assert made["ours"]["spaCy_sentences"][:3] == [3, 2, 1]
    assert "found so: 1 of 2" in made["notes"][0]


def test_factscore_gets_spacys_sentences_questions_included(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def reply(body: dict[str, Any]) -> str:
        sent.append(asked(body))
        return "no fact" if "Should" in asked(body) else '1. "It lies there."\n2. ""'

    with llm_server(reply) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
        made = reproduced(tmp_path, "V24.T1", [PARIS], "--models", "tiny")
    assert "Should you go?" in sent
    # two of each of four sentences but the question, of which one is empty
    assert made["ours"]["gpt35_factscore"][:2] == [7, 2]
    assert made["methods"]["gpt35_factscore"] == "factscore, tiny"


def test_every_pair_counts_where_a_verifier_has_no_usable_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(body: dict[str, Any]) -> str:
        text = body["messages"][-1]["content"]
        if "First fact" in text:
            return '1. "Paris lies on the Seine."'
        return "1" if "returns 3" in text else "no idea"

    documents = [DOCUMENT, *(f"Town number {n} lies on a river." for n in range(6))]
    with llm_server(reply) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
        rows = [{**PARIS, "documents": documents}]
        made = reproduced(tmp_path, "V24.T4", rows, "--models", "tiny", "--set", "llm_retries=0")
    counts = made["ours"]["DeBERTa - 512"]
    assert sum(counts[:3]) == 5  # passages of the only claim
    assert counts[3] == pytest.approx(100 * counts[2] / 5)
    assert made["ours"]["GPT3.5 - 512"] == [0, 0, 0, 0.0]
    tasks, problems = parse_tasks((tmp_path / "out" / "tasks.jsonl").read_bytes(), "p")
    assert not problems
    assert {task.system for task in tasks} == {"Human - 256", "Human - 512"}


@pytest.mark.parametrize("number", ["V24.T7", "V24.T8"])
def test_shares_by_independence_sum_to_one_hundred(number: str, tmp_path: Path) -> None:
    made = reproduced(tmp_path, number, [{**PARIS, "documents": [DOCUMENT]}])
    assert sum(made["ours"]["Original Independent"]) == pytest.approx(100)
    assert "Original Independent: " in made["notes"][0]


def test_claims_without_passages_count_in_t9_and_not_in_t7(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = SimpleNamespace(evidence=())
    monkeypatch.setattr(TableInputs, "check", lambda *inputs: nothing)
    t9, t7 = (reproduced(tmp_path / number, f"V24.{number}", [PARIS]) for number in ("T9", "T7"))
    assert t9["ours"]["SBert Baseline (Macro)"] == [0.0, 0.0, 0.0]
    assert t7["ours"]["Original Independent"] == [None, None, None]


def test_an_endpoint_without_embeddings_leaves_its_row_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(body: dict[str, Any]) -> Any:
        return error(404) if "input" in body else "1. Paris is the capital of France."

    with llm_server(reply) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
        rows = [{**PARIS, "documents": [DOCUMENT]}]
        made = reproduced(tmp_path, "V24.T9", rows, "--models", "tiny")
    assert list(made["ours"]) == ["SBert Baseline (Macro)", "SBert + Recursive CW"]
    assert any(note.startswith("Ada 2.0: left out:") and "404" in note for note in made["notes"])


def test_each_model_does_what_it_does_in_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: set[tuple[str, str]] = set()
    replies = {
        "returns 3": ("worthiness", "1"),
        "not independent": ("independence", "not independent"),
        "Revised claim:": ("enrichment", "Paris lies on the Seine."),
        "First fact": ("factscore", '1. "It lies on the Seine."'),
    }

    def reply(body: dict[str, Any]) -> str:
        text = body["messages"][-1]["content"]
        task, said = next(reply for mark, reply in replies.items() if mark in text)
        requests.add((task, body["model"]))
        return said

    with llm_server(reply) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
        rows = [{**PARIS, "documents": [DOCUMENT]}]
        reproduced(tmp_path, "V24.T7", rows, "--models", "GPT-3.5=small", "GPT-4=large")
    assert requests == {
        ("factscore", "small"),
        ("worthiness", "small"),
        ("independence", "large"),
        ("enrichment", "large"),
    }


def test_claims_that_enrichment_leaves_dependent_count_in_the_figure(tmp_path: Path) -> None:
    made = reproduced(tmp_path, "V24.F2", [PARIS])
    independent, dependent, share, _ = made["ours"]["GPT4"]
    assert independent + dependent == 1  # "It lies on the Seine."
    assert share == 100 * independent
    assert "Plotly" in (tmp_path / "out" / "figure.html").read_text()


def test_a_figure_is_the_macro_average_of_its_table(tmp_path: Path) -> None:
    rows = [{"answer": "Ada Lovelace was a mathematician and wrote notes.", "system": "x"}]
    table, figure = (reproduced(tmp_path / n, f"W24.{n}", rows) for n in ("T2", "F3"))
    assert list(figure["ours"]) == ["Macro-average"]
    assert figure["ours"]["Macro-average"] == table["ours"]["x"]


def test_documents_are_sources_of_every_answer(tmp_path: Path) -> None:
    settings = Settings.from_environment(sources=["documents"], verifier="embedded-small")
    document = Document("Paris.txt", DOCUMENT.encode(), "text/plain")
    inputs = TableInputs(settings, tmp_path, [Row(1, PARIS)], [document])
    *_, made = reproduce("V24.T7", inputs)
    assert isinstance(made, Reproduced)
    ours = next(row for row in made.table.rows if row[1] != "published")
    assert ours[0] == "Original Independent"
    assert None not in ours


def test_detection_of_dependent_claims_by_the_rules(tmp_path: Path) -> None:
    claims = [
        {"claim": "It lies on the Seine.", "independent": False, "segmenter": "spaCy"},
        {"claim": "Paris is the capital of France.", "independent": True, "segmenter": "spaCy"},
        {"claim": "Paris is old.", "independent": False, "segmenter": "factscore"},
    ]
    made = reproduced(tmp_path, "V24.T5", [{**PARIS, "claims": claims}])
    assert made["ours"]["spaCy"][:3] == [1, 1, 1]
    assert made["ours"]["Overall"][:3] == pytest.approx([1, 1 / 2, 2 / 3])
    reproduced(tmp_path, "V24.T5", [PARIS], status=1)  # the row has no labels


PEOPLE = {
    "yes": Content(interpretable=True, attributable=True),
    "no": Content(interpretable=False),
    "denied": Content(interpretable=True, attributable=False),
}


@pytest.mark.parametrize(
    ("number", "form", "answers", "label", "figures"),
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
    answers: dict[str, list[str]],
    label: str,
    figures: list[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ATTRIBUTION_DATABASE_URL", f"sqlite:///{tmp_path}/people.sqlite3")
    saved = Annotations(Store.open(f"sqlite:///{tmp_path}/people.sqlite3").database)
    project = saved.create("study", form=form, overlap=1)
    for dataset, given in zip(PROPERTIES, answers.values(), strict=False):
        for n, answer in enumerate(given):
            task = make_task(project.id, f"Claim {n}.", "S.", system=label, dataset=dataset)
            saved.add_tasks([task])
            say(saved, project, task.id, "ann", PEOPLE[answer])
    assert main(["reproduce", number, "--project", "study", "--out", str(tmp_path / "out")]) == 0
    assert json.loads((tmp_path / "out" / "table.json").read_text())["ours"][label] == figures


def test_claims_become_tasks_for_people_one_for_each_property(tmp_path: Path) -> None:
    made = reproduced(tmp_path, "V24.T2", [PARIS])
    tasks, problems = parse_tasks((tmp_path / "out" / "tasks.jsonl").read_bytes(), "p")
    assert not problems
    assert len(tasks) == 4 * len(PROPERTIES)
    asked_first, claims_after = tasks[0].turns
    assert asked_first.text == PARIS["question"]
    assert "3. It lies on the Seine." in claims_after.text
    assert "20 tasks for people" in made["notes"][0]


YES = {"coherent": True, "supported": True}
NO = {"coherent": True, "supported": False}
LOST = {"coherent": False, "supported": False}
FACTS_3, FACTS_2, FACTS_1 = 0.09697, 0.01832, 0.000123  # length penalties: exp(1 - 10 / facts)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("T2", 1.5),
        ("T3", 2.0),
        ("T4", 50 * (FACTS_3 / 3 + FACTS_1)),
        ("T5", 50 * (FACTS_2 / 2 + FACTS_1)),
        ("T6", 100 * (2 / 3 + 1) / 2),
    ],
)
def test_figures_of_two_answers_are_means_over_the_answers(number: str, expected: float) -> None:
    assert w24.MEASURES[number]([[YES, NO, LOST], [YES]]) == pytest.approx(expected, rel=1e-3)


def test_systems_count_once_in_the_macro_average(tmp_path: Path) -> None:
    rows = [
        {"answer": "Ada Lovelace was a mathematician and wrote notes.", "system": "x"},
        {"answer": "Ada Lovelace was a poet.", "system": "y"},
        {"answer": "Ada Lovelace was a poet.", "system": "y"},
    ]
    made = reproduced(tmp_path, "W24.T3", rows)
    place = list(w24.DECOMPOSERS).index("PredPatt")
    x, y, macro = (made["ours"][name][place] for name in ("x", "y", "Macro-average"))
    assert macro == pytest.approx((x + y) / 2)
    assert made["ours"]["x"][0] is None  # R-ND needs a language model
    assert made["notes"][0].startswith("R-ND: left out:")


def test_the_judge_of_subclaims_is_another_model_asked_for_true_or_false(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: set[tuple[str, float]] = set()

    def reply(body: dict[str, Any]) -> str:
        asked_for.add((body["model"], body["temperature"]))
        text = body["messages"][-1]["content"]
        if "True or False" in text:
            return "False." if "poet" in asked(body) else "True"
        return "- Ada wrote notes.\n- Ada was a poet."

    with llm_server(reply) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
        rows = [{"answer": "Ada wrote notes.", "system": "x"}]
        models = ("InstructGPT=writer", "Inst-LLAMA=judge")
        made = reproduced(tmp_path, "W24.T6", rows, "--models", *models)
    assert asked_for == {("writer", 0.7), ("judge", 0.0)}
    assert made["ours"]["x"][:6] == [50.0] * 6
    assert made["methods"]["x"] == "writer, judged by judge"


def test_the_other_judges_figures_are_looked_for_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"answer": "Ada was a poet.", "factscore": 50}\n')
    assert main(["reproduce", "W24.T7", "--input", str(path), "--out", str(tmp_path / "o")]) == 2
    assert 'line 1 has no "factscore" and "facts"' in capsys.readouterr().err


def labelled(number: int) -> dict[str, object]:
    context = f"The permit number {number} is valid for two years and costs ten euros."
    is_grounded = number % 2 == 0
    return {
        "question": f"Question {number}?",
        "context": context,
        "response": context if is_grounded else "Bicycles must be parked behind the house.",
        "grounded": is_grounded,
        "split": ("dev", "test")[number // 2 % 2],
        "error_type": "terminological_error; misattribution",
    }


def test_groundedness_methods_are_reported_on_both_splits_with_what_stands_in(
    tmp_path: Path,
) -> None:
    made = reproduced(tmp_path, "T24.T3", [labelled(n) for n in range(16)])
    assert made["ours"]["COS_SIM"] == [1.0] * 8
    assert made["methods"]["COS_SIM"] == "cos_sim, minilm"
    assert any("GC-large: left out: set gc_model" in note for note in made["notes"])
    assert any(note.startswith("LYNX v1.1: left out:") for note in made["notes"])


def test_misclassified_responses_are_counted_by_each_of_their_error_types(tmp_path: Path) -> None:
    made = reproduced(tmp_path, "T24.T4", [labelled(n) for n in range(16)])
    assert made["ours"]["Terminological Errors"] == [0, 4, 0.0]
    assert made["ours"]["Misattributions"] == [0, 4, 0.0]


def test_error_types_are_those_that_two_models_agree_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(body: dict[str, Any]) -> str:
        types = ["misattribution", "reasoning_error"]
        return json.dumps({"types": types if body["model"] == "one" else types[:1]})

    rows = [{**labelled(n), "error_type": ""} for n in range(16)]
    with llm_server(reply) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
        models = ("--models", "two", "GPT-4o=one", "--set", "llm_retries=0")
        made = reproduced(tmp_path, "T24.T4", rows, *models, status=1)  # no other reply is usable
    assert made["notes"][0].startswith("the best is")
    assert made["ours"]["Misattributions"][1] == 4
    assert "Reasoning Errors" not in made["ours"]
    assert "the same types in 0 of 4" in made["notes"][1]
