import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.reports import Exported, export
from attribution.types import Verdict
from tests.pages.hostile import ADDRESSES, TEXTS
from tests.reports.runs import QUOTE, hostile, run
from tests.reports.test_html import _Tags

ROOT = Path(__file__).parents[2]
OURS = set(
    "html head meta title style body main h1 h2 h3 h4 h5 h6 p div section article span a sup strong em del code pre "
    "ol ul li table thead tbody tr th td blockquote hr br details summary dl dt dd progress".split()
)


def test_each_claim_leads_to_its_evidence_and_back() -> None:
    made = export("html", Exported(run(), "A title", "A note", frozenset({"c1"}))).decode()
    seen = _Tags(made)
    ids = [value for name, value in seen.attributes if name == "id"]
    places = [
        value[1:]
        for name, value in seen.attributes
        if name == "href" and (value or "").startswith("#")
    ]
    assert sorted(ids) == ["claim-1", "claim-2", "mark-1", "mark-2"]
    assert sorted(places) == [
        "claim-1",
        "claim-2",
        "mark-1",
    ]  # the second claim has no place in the answer
    for words in (
        "A title",
        "A note",
        "Question: When was",
        QUOTE,
        "Corrected by hand.",
        "Claims without a place",
    ):
        assert words in seen.text
    assert "button" not in seen.tags and "no longer in the database" not in seen.text
    assert "https://example.org/tower#:~:text=The%20tower" in made


def test_errors_come_first_and_many_claims_with_nothing_related_are_one_line() -> None:
    made = run()
    of = dict.fromkeys((f"n{n}" for n in range(5)), "no_relation") | {"bad": "contradicted"}
    claims = tuple(made.claims[1].model_copy(update={"id": i, "worthiness": "factual"}) for i in of)
    verdicts = tuple(
        Verdict(claim_id=i, label=label, confidence=0.9, reason="r") for i, label in of.items()
    )
    page = export(
        "html", Exported(made.model_copy(update={"claims": claims, "verdicts": verdicts}))
    ).decode()
    first, rest = (
        page.index('id="claim-6"'),
        page.index("<summary>5 with nothing related</summary>"),
    )
    assert first < rest < page.index('id="claim-1"')


@given(st.text(max_size=60) | st.sampled_from(TEXTS), st.sampled_from([a for a in ADDRESSES if a]))
@settings(max_examples=40)
def test_foreign_text_stays_text(text: str, address: str) -> None:
    seen = _Tags(export("html", hostile(text, address)).decode())
    assert seen.tags <= OURS and not any(
        name.startswith("on") or name == "src" for name, _ in seen.attributes
    )
    links = [value for name, value in seen.attributes if name == "href"]
    assert all(re.match(r"https?://|#(claim|mark)-\d+$", link or "") for link in links)


def test_the_command_names_what_is_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from attribution.cli.main import main

    (tmp_path / "notes.json").write_text("[1]")
    assert main(["export", str(tmp_path / "notes.json"), "--format", "csl"]) == 2
    assert "notes.json: not a report" in capsys.readouterr().err
    assert main(["export", "0123456789abcdef", "--format", "csl"]) == 2
    assert "neither a report file nor the id of a saved run" in capsys.readouterr().err
