import pytest

from attribution.settings import Settings
from attribution.verifiers import VERIFIERS
from benchmarks.pipeline.__main__ import agreement
from benchmarks.pipeline.profile import Profile
from benchmarks.pipeline.workload import LARGEST, PAGES_PER_CLAIM, SMALLEST, make


@pytest.mark.parametrize("claims", [1, 10, 30])
def test_the_workload_is_the_same_each_time_and_of_the_promised_size(claims: int) -> None:
    workload = make(claims)
    assert workload == make(claims)
    assert len(workload.claims) == len(set(workload.claims)) == claims
    assert all(len(set(found)) == PAGES_PER_CLAIM for found in workload.found)
    for page in workload.pages:
        assert (
            SMALLEST <= sum(map(len, page.paragraphs)) <= LARGEST + 2_000
        )  # the last sentence may go beyond
    hits = [page for found in workload.found for page in found]
    assert claims == 1 or len(set(hits)) < len(hits)  # claims share pages


def test_agreement_counts_passages_relations_and_verdicts() -> None:
    ours = [
        {"label": "supported", "evidence": {"a": "entailed", "b": "no_relation"}},
        {"label": "missing", "evidence": {}},
    ]
    theirs = [
        {"label": "supported", "evidence": {"a": "contradicted", "c": "no_relation"}},
        {"label": "unclear", "evidence": {"d": "no_relation"}},
    ]
    assert agreement(ours, ours) == dict.fromkeys(agreement(ours, theirs), 1.0)
    assert list(agreement(ours, theirs).values()) == [1 / 3, 0.0, 0.5]


def test_a_profile_counts_passes_and_tokens_of_the_networks() -> None:
    verifier = VERIFIERS.build("embedded-small", Settings())
    profile = Profile()
    with profile.measuring():
        verifier.verify([("The tower is tall.", "The tower has a hundred metres.")])
    network = profile.rows()["the reader's network"]
    assert network["passes"] == 1
    assert 8 < network["tokens"] < 30
    assert network["processor seconds"] > 0
