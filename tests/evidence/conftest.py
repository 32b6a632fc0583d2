import pytest

from attribution.models import reranker


@pytest.fixture(autouse=True)
def _as_the_verifier_says(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Leave the probabilities of scripted verifiers as they are, except in the tests of relevance."""
    if "relevance" not in request.node.name:
        monkeypatch.setattr(reranker, "installed", lambda: False)
