import json
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main
from attribution.errors import BadInput
from attribution.files import Row
from attribution.llm.client import Llm
from attribution.studies.groundedness.test_sets import Grounded, make, of_report, read
from attribution.studies.groundedness.twins import ERROR_TYPES, TYPE_OF
from attribution.types import Report, Verdict
from tests.llm_server import llm_server, llm_settings
from tests.make import claim, evidence

ANSWER = "The tower was built in 1889. It is often closed."
GROUNDED = Grounded("t", "When?", ("The tower was built in 1889 and is often closed.",), ANSWER)


def test_rows_have_the_form_that_a_benchmark_reads() -> None:
    ((rows, problems),) = make([GROUNDED], ["number", "scope", "order"])
    fields = [r.fields() for r in rows]
    assert fields[0] == {
        "id": "t",
        "group": "t",
        "question": "When?",
        "context": GROUNDED.context,
        "response": ANSWER,
        "grounded": True,
    }
    number, scope = fields[1:]
    assert (
        number["id"] == "t~number"
        and number["grounded"] is False
        and number["error_type"] == "factual_inaccuracy"
    )
    ((start, end),) = scope["changed"]
    assert (
        scope["response"][start:end] == "always" and ANSWER[slice(*scope["original"][0])] == "often"
    )
    assert problems == ["nothing to alter by rule: order"]
    assert set(TYPE_OF.values()) <= set(ERROR_TYPES)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Row(1, {"context": "c", "response": "r", "grounded": False}), "not true"),
        (Row(1, {"context": "c" * 200_001, "response": "r"}), "at most 200,000"),
        (Row(1, {"context": ["c", 3], "response": "r"}), "no text and no list"),
        (Row(1, {"response": "r"}), "no text and no list"),
        (Row(1, {}, "not JSON"), "not JSON"),
    ],
)
def test_lines_that_cannot_be_used_say_why(row: Row, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(row)


def test_a_run_gives_its_supported_sentences() -> None:
    one, two = claim("The Nile is long."), claim("It is dry.")
    two = two.model_copy(update={"spans": ((18, 28),)})
    yes = evidence(one, 0.9, 0.0, "entailed")
    verdicts = tuple(
        Verdict(claim_id=c.id, label=label, confidence=0.9, reason="")
        for c, label in ((one, "supported"), (two, "missing"))
    )
    report = Report(
        id="r",
        created_at="",
        question="Q",
        answer="The Nile is long. It is dry.",
        settings={},
        versions={},
        claims=(one, two),
        evidence=(yes,),
        verdicts=verdicts,
    )
    made = of_report(report)
    assert (made.response, made.context, made.question) == ("The Nile is long.", "text", "Q")
    with pytest.raises(BadInput, match="no supported claim"):
        of_report(report.model_copy(update={"verdicts": ()}))


def replies(request: dict[str, Any]) -> str:
    text = request["messages"][-1]["content"]
    if "what kind" in text or "which kind" in text:
        return json.dumps(
            {"error_type": "reasoning_error" if request["model"] == "one" else "Reasoning_Error "}
        )
    if "negated" in text:
        return json.dumps({"original": "It was never there.", "altered": "It was there."})
    return json.dumps({"original": "It is often closed.", "altered": "It is <b>never</b> closed."})


def test_a_language_model_alters_what_stands_in_the_answer() -> None:
    with llm_server(replies) as server:
        settings = llm_settings(server)
        judges = [
            Llm(settings.model_copy(update={"openai_model": name})) for name in ("one", "two")
        ]
        ((rows, problems),) = make(
            [GROUNDED], ["scope", "negation"], llm=Llm(settings), judges=judges
        )
    (twin,) = [r.twin for r in rows if r.twin]
    assert [twin.response[a:b] for a, b in twin.changed] == ["<b>never</b>"]
    assert twin.version.startswith("evoked_error.v2/") and rows[1].error_type == "reasoning_error"
    assert problems == [
        "negation: the language model altered a sentence that is not in the answer: 'It was never there.'"
    ]


def test_judges_that_differ_leave_the_label_to_a_person() -> None:
    def differ(request: dict[str, Any]) -> str:
        return json.dumps(
            {"error_type": "misattribution" if request["model"] == "one" else "made_up"}
        )

    with llm_server(differ) as server:
        settings = llm_settings(server)
        judges = [
            Llm(settings.model_copy(update={"openai_model": name})) for name in ("one", "two")
        ]
        ((rows, _),) = make([GROUNDED], ["scope"], judges=judges)
    assert rows[1].error_type == "" and rows[1].fields()["proposed"] == ["misattribution", ""]


def test_the_command_writes_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "set.jsonl"
    good = {"context": GROUNDED.context, "response": ANSWER}
    source.write_text(json.dumps(good) + "\n" + json.dumps({**good, "grounded": False}) + "\n")
    assert (
        main(["evoke", "--input", str(source), "--output", str(out), "--kinds", "number", "scope"])
        == 1
    )
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [r["grounded"] for r in rows] == [
        True,
        False,
        False,
    ] and "line 2:" in capsys.readouterr().err
    assert main(["evoke", "--run", "nope", "--output", str(out)]) == 2
    assert "there is no saved run 'nope'" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(6))
def test_a_single_twin_has_one_to_three_changes(seed: int) -> None:
    ((rows, _),) = make([GROUNDED], ["number", "scope", "negation"], seed, single=True)
    grounded, made = (row.fields() for row in rows)
    kinds = str(made["kind"]).split(";")
    assert (
        1 <= len(kinds) <= 3 and len(made["changed"]) == len(kinds) and grounded["grounded"] is True
    )
    assert made["error_type"] == ";".join(dict.fromkeys(TYPE_OF[kind] for kind in kinds))
    left, right = str(made["response"]), ANSWER
    for (a, b), (c, d) in zip(reversed(made["changed"]), reversed(made["original"]), strict=True):
        left, right = left[:a] + "…" + left[b:], right[:c] + "…" + right[d:]
    assert left == right
