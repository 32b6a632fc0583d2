import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from attribution.cli.main import main
from attribution.settings import Settings
from attribution.studies.papers import v24, w24
from attribution.studies.papers.reproduce import Reproduced, TableInputs, models_of, reproduce
from attribution.text_files import Row
from attribution.types import Document
from tests.llm_server import Script, asked, error, llm_server, prompt_of

Table = Body = dict[str, Any]
Serve = Callable[[Script], None]
ANSWER = (
    "Paris is the capital of France. It lies on the Seine. It lies on the Seine. Should you go?"
)
PARIS = {"question": "Where is Paris?", "answer": ANSWER}
DOCUMENT = "Paris is the capital of France. The city lies on the Seine."
CHECKED = {**PARIS, "documents": [DOCUMENT]}


def reproduce_command(folder: Path, number: str, rows: list[Any], *more: str) -> list[str]:
    """Write the rows to a file, and return the command that reads it."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = ["--input", str(path), "--out", str(folder / "out")]
    return ["reproduce", number, *files, "--set", "verifier=embedded-small", *more]


def reproduced(folder: Path, number: str, rows: list[Any], *more: str, status: int = 0) -> Table:
    """Return table.json as the command writes it."""
    folder.mkdir(exist_ok=True)
    assert main(reproduce_command(folder, number, rows, *more)) == status
    table: Table = json.loads((folder / "out" / "table.json").read_text())
    return table


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Have the command ask an endpoint that replies by a script."""
    with ExitStack() as stack:

        def start(script: Script) -> None:
            served = stack.enter_context(llm_server(script))
            monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))

        yield start


def test_the_tables_that_can_be_computed_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "list"]) == 0
    listed = {row["id"] for row in json.loads(capsys.readouterr().out)}
    assert listed == {
        *(f"V24.T{n}" for n in (1, 3, 4, 7, 8, 9)),
        *(f"W24.T{n}" for n in range(2, 7)),
        "T24.T2",
        "T24.T3",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["V24.T10", "--out", "x"], "V24.T10 is not computed; expected one of V24.T1"),
        (["V24.T1"], "give one with --out"),
        (["V24.T1", "--out", "{}"], "needs answers"),
        (["V24.T8", "--out", "{}-folder", "--input", "{}"], "GPT4 Direct: left out: set OPENAI"),
        (
            ["V24.T1", "--models", "GPT-9=x", "--out", "{}-folder", "--input", "{}"],
            "no language model",
        ),
        (["T24.T3", "--out", "{}"], "needs labelled responses"),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(PARIS) + "\n")
    assert main(["reproduce", *(a.format(rows) for a in arguments)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("number", ["V24.T3", "W24.T3"])
def test_a_row_that_cannot_be_used_leaves_the_others(number: str, tmp_path: Path) -> None:
    others = {"split": ["of another", "data set"], "claims": ["Paris"]}
    assert reproduced(tmp_path, number, [{"answer": 3}, {**PARIS, **others}], status=1)["ours"]


@pytest.mark.parametrize("number", ["V24.T1", "W24.T3"])
def test_without_a_usable_row_the_reason_is_said(
    number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(reproduce_command(tmp_path, number, [{"answer": 3}])) == 2
    assert 'no answer could be used: "answer" is not text' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "unanswered", "status"),
    [
        ("V24.T4", "no_relation", 404),
        ("V24.T8", "Vienna", 503),
        ("W24.T2", "True or False", 404),
        ("W24.T3", "", 503),
    ],
)
def test_no_figures_are_made_without_the_language_model(
    number: str,
    unanswered: str,
    status: int,
    tmp_path: Path,
    serve: Serve,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def reply(body: Body) -> Any:
        if unanswered in prompt_of(body):
            return error(status)
        return REPLIES[task_of(body)] if number.startswith("V24") else "- Ada wrote notes."

    serve(reply)
    options = ("--models", "tiny", "--set", "llm_retries=0")
    assert main(reproduce_command(tmp_path, number, [CHECKED], *options)) == 2
    assert "no answer could be used" in capsys.readouterr().err


def test_what_was_not_ready_is_made_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"answer": "Ada was a poet.", "system": "x"}]
    with monkeypatch.context() as patch:
        patch.setattr(w24, "missing_step", lambda *_: "later")
        assert set(reproduced(tmp_path, "W24.T3", rows)["ours"]["x"]) == {None}
    assert reproduced(tmp_path, "W24.T3", rows)["ours"]["x"][-1] is not None


def test_a_model_that_is_not_named_is_that_of_the_settings_else_any(tmp_path: Path) -> None:
    models = models_of(["Sonnet 3.5=claude", " GPT-4o=gpt"])
    assert models == {"Sonnet 3.5": "claude", "GPT-4o": "gpt"}
    for own, expected in (("", "claude"), ("own", "own")):
        inputs = TableInputs(Settings(openai_model=own), tmp_path, models=models)
        assert inputs.asking("Haiku").openai_model == expected
        assert inputs.asking("GPT-4o").openai_model == "gpt"


def test_raw_sentences_count_as_often_as_they_are_said(tmp_path: Path) -> None:
    answer = "2. **Age**: Paris is old.\n\n\nIt lies on the Seine. It lies on the Seine."
    made = reproduced(tmp_path, "V24.T1", [{"answer": answer}])
    claims, unique, length, a_sentence = made["ours"]["spaCy_sentences"]
    assert claims == unique + 1
    assert a_sentence == 1
    assert length == pytest.approx(20, abs=5)
    text = (tmp_path / "out" / "table.md").read_text()
    printed = "| spaCy_sentences | published | 938 | 855 | 103.2 | 1.00 |"
    assert printed in text.replace("\\_", "_")
    assert f"| {length:.1f} | 1.00 |" in text


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


def test_factscore_gets_spacys_sentences_questions_included(tmp_path: Path, serve: Serve) -> None:
    sent: list[str] = []

    def reply(body: dict[str, Any]) -> str:
        sent.append(asked(body))
        return "no fact" if "Should" in asked(body) else '1. "It lies there."\n2. ""'

    serve(reply)
    made = reproduced(tmp_path, "V24.T1", [PARIS], "--models", "tiny")
    assert "Should you go?" in sent
    # two of each of four sentences but the question, of which one is empty
    assert made["ours"]["gpt35_factscore"][:2] == [7, 2]
    assert made["methods"]["gpt35_factscore"] == "factscore, tiny"


def test_every_pair_counts_where_a_verifier_has_no_usable_reply(
    tmp_path: Path, serve: Serve
) -> None:
    def reply(body: dict[str, Any]) -> str:
        text = prompt_of(body)
        if "First fact" in text:
            return '1. "Paris lies on the Seine."'
        return "1" if "returns 3" in text else "no idea"

    documents = [DOCUMENT, *(f"Town number {n} lies on a river." for n in range(6))]
    serve(reply)
    rows = [{**PARIS, "documents": documents}]
    made = reproduced(tmp_path, "V24.T4", rows, "--models", "tiny", "--set", "llm_retries=0")
    counts = made["ours"]["DeBERTa - 512"]
    assert sum(counts[:3]) == 5  # passages of the only claim
    assert counts[3] == pytest.approx(100 * counts[2] / 5)
    assert made["ours"]["GPT3.5 - 512"] == [0, 0, 0, 0.0]
    assert made["methods"]["GPT3.5 - 512"] == "factscore, tiny, mpnet, llm-pair"


REPLIES = {  # by what a prompt has
    "returns 3": "1",
    "not independent": "not independent",
    "no_relation": "entailed",
    "Vienna": "1. Paris is the capital of France.",
    "Revised claim:": "Paris lies on the Seine.",
    "First fact": '1. "It lies on the Seine."',
}


def task_of(body: Body) -> str:
    return next(mark for mark in REPLIES if mark in prompt_of(body))


def reply_to(seen: list[Body], body: Body) -> str:
    seen.append(body)
    return REPLIES[task_of(body)]


@pytest.mark.parametrize(
    ("number", "label"),
    [
        ("T4", "DeBERTa - 512"),
        ("T7", "Original Non-Ind."),
        ("T8", "GPT4 Direct - Non-Ind."),
    ],
)
def test_pairs_are_of_claims_made_of_spacys_sentences_or_directly(
    number: str, label: str, tmp_path: Path, serve: Serve
) -> None:
    answer = "1. **Paris** lies there.\n\n\nShould you go?"
    rows = [{**PARIS, "answer": answer, "documents": [DOCUMENT]}]
    seen: list[Body] = []
    serve(partial(reply_to, seen))
    made = reproduced(tmp_path, f"V24.{number}", rows, "--models", "tiny")
    sentences = {asked(body) for body in seen if task_of(body) == "First fact"}
    assert sentences == {"1. **Paris** lies there.", "Should you go?"}
    assert made["ours"][label][1] > 0
    if number != "T4":  # which has counts
        assert sum(made["ours"][label]) == pytest.approx(100)


def test_lengths_and_pairs_without_a_relation_are_measured_before_and_after_enrichment() -> None:
    def claim(length: int, is_independent: bool, *relations: str) -> Table:
        return {"length": length, "independent": is_independent, "relations": list(relations)}

    original = [claim(60, True, "entailed"), claim(40, False, "no_relation"), claim(50, False)]
    enriched = [claim(90, True, "no_relation", "entailed"), claim(80, False, "no_relation")]
    assert v24.lengths("Original", [original]) == [
        "Original Independent: 1 claims, 60.0 characters a claim",
        "Original Non-Ind.: 2 claims, 45.0 characters a claim",
    ]
    made = v24.reduction({"Original": [original], "Enriched": [enriched]})
    assert "50.0 % of dependent claims, 33.3 % of those" in made


def test_claims_without_passages_count_in_t9_and_are_unrelated_in_t7(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Serve
) -> None:
    serve(partial(reply_to, []))
    nothing = SimpleNamespace(evidence=())
    monkeypatch.setattr(TableInputs, "check", lambda *inputs: nothing)
    t9, t7 = (
        reproduced(tmp_path / number, f"V24.{number}", [PARIS], "--models", "tiny")
        for number in ("T9", "T7")
    )
    assert t9["ours"]["SBert Baseline (Macro)"] == [0.0, 0.0, 0.0]
    assert t7["ours"]["Original Non-Ind."] == [0.0, 0.0, 100.0]


def test_an_endpoint_without_embeddings_leaves_its_row_out(tmp_path: Path, serve: Serve) -> None:
    def reply(body: dict[str, Any]) -> Any:
        return error(404) if "input" in body else "1. Paris is the capital of France."

    serve(reply)
    made = reproduced(tmp_path, "V24.T9", [CHECKED], "--models", "tiny")
    assert list(made["ours"]) == ["SBert Baseline (Macro)", "SBert + Recursive CW"]
    assert any(note.startswith("Ada 2.0: left out:") and "404" in note for note in made["notes"])


def test_each_model_does_what_it_does_in_the_paper(tmp_path: Path, serve: Serve) -> None:
    seen: list[Body] = []
    serve(partial(reply_to, seen))
    reproduced(tmp_path, "V24.T7", [CHECKED], "--models", "GPT-3.5=small", "GPT-4=large")
    assert {(task_of(body), body["model"]) for body in seen} == {
        ("First fact", "small"),
        ("returns 3", "small"),
        ("not independent", "large"),
        ("Revised claim:", "large"),
    }


def test_documents_are_sources_of_every_answer(tmp_path: Path, serve: Serve) -> None:
    serve(partial(reply_to, []))
    settings = Settings.from_environment(
        sources=["documents"], verifier="embedded-small", openai_model="tiny"
    )
    document = Document("Paris.txt", DOCUMENT.encode(), "text/plain")
    inputs = TableInputs(settings, tmp_path, [Row(1, PARIS)], [document])
    *_, made = reproduce("V24.T7", inputs)
    assert isinstance(made, Reproduced)
    ours = [row for row in made.table.rows if row[1] != "published"]
    assert ours[1][0] == "Original Non-Ind."
    assert None not in ours[1]


YES = {"coherent": True, "supported": True}
NO = {"coherent": True, "supported": False}
LOST = {"coherent": False, "supported": False}
FACTS_2, FACTS_1 = 0.01832, 0.000123  # length penalties: exp(1 - 10 / facts)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("T2", 1.5),
        ("T5", 50 * (FACTS_2 / 2 + FACTS_1)),
        ("T6", 100 * (2 / 3 + 1) / 2),
    ],
)
def test_figures_of_two_answers_are_means_over_the_answers(number: str, expected: float) -> None:
    assert w24.MEASURES[number]([[YES, NO, LOST], [YES]]) == pytest.approx(expected, rel=1e-3)


def test_an_answer_without_subclaims_counts_in_the_mean_number() -> None:
    assert w24.MEASURES["T3"]([[YES, NO], []]) == 1


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
    assert f"| – | {x:.1f} |" in (tmp_path / "out" / "table.md").read_text()


def test_the_judge_of_subclaims_is_another_model_asked_for_true_or_false(
    tmp_path: Path, serve: Serve
) -> None:
    asked_for: set[tuple[str, float]] = set()

    def reply(body: dict[str, Any]) -> str:
        asked_for.add((body["model"], body["temperature"]))
        if "True or False" in prompt_of(body):
            return "False." if "poet" in asked(body) else "True"
        return "- Ada wrote notes.\n- Ada was a poet."

    serve(reply)
    rows = [{"answer": "Ada wrote notes.", "system": "x"}]
    models = ("InstructGPT=writer", "Inst-LLAMA=judge")
    made = reproduced(tmp_path, "W24.T6", rows, "--models", *models)
    assert asked_for == {("writer", 0.7), ("judge", 0.0)}
    assert made["ours"]["x"][:6] == [50.0] * 6
    assert made["methods"]["x"] == "writer, judged by judge"


def labelled(number: int) -> dict[str, object]:
    context = f"The permit number {number} is valid for two years and costs ten euros."
    is_grounded = number % 2 == 0
    return {
        "question": f"Question {number}?",
        "context": context,
        "response": context if is_grounded else "Bicycles must be parked behind the house.",
        "grounded": is_grounded,
        "split": ("development", "test")[number // 2 % 2],
    }


def test_groundedness_methods_are_reported_on_both_splits_with_what_stands_in(
    tmp_path: Path,
) -> None:
    made = reproduced(tmp_path, "T24.T3", [labelled(n) for n in range(16)])
    assert made["ours"]["COS_SIM"] == [1.0] * 8
    assert made["methods"]["COS_SIM"] == "cos_sim, minilm"
    text = (tmp_path / "out" / "table.md").read_text()
    assert "| 0.525 | 0.520 | 0.494 | 0.520 | 0.497 |" in text
    assert text.count("| 1.000 ") >= 8
    assert any("GC-large: left out: set gc_model" in note for note in made["notes"])
    assert any(note.startswith("LYNX v1.1: left out:") for note in made["notes"])
