from attribution.settings import Settings
from attribution.verifiers import VERIFIERS
from benchmarks.pipeline.profile import Profile


def test_a_profile_counts_passes_and_tokens_of_the_networks() -> None:
    verifier = VERIFIERS.build("embedded-small", Settings())
    profile = Profile()
    with profile.measuring():
        verifier.verify([("The tower is tall.", "The tower has a hundred metres.")])
    network = profile.rows()["the reader's network"]
    assert network["passes"] == 1
    assert 8 < network["tokens"] < 30
    assert network["processor seconds"] > 0
