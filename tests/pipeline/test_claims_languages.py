from attribution.pipeline.claims import unmatched, unsupported
from attribution.pipeline.run import run
from attribution.segmenters.clauses import Clauses
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document
from tests.make import finished, page

GERMAN = (
    "Der Turm wurde 1889 fertiggestellt und steht in Paris. Er gehört der Stadt und ist 330 Meter "
    "hoch."
)
LLM = {"segmenter": "direct", "worthiness": "llm", "independence": "llm", "enrichment": "llm"}


def test_what_reads_english_only_is_named() -> None:
    failure = unsupported(GERMAN, Settings(segmenter="clauses"))
    assert failure is not None
    assert (failure.kind, failure.subject) == ("unsupported_language", "German")
    for part in ("segmenter", "rules", "embedding model", "verifier"):
        assert part in failure.message


def test_what_serves_another_language_is_not_named() -> None:
    models = {"verifier": "deberta", "verifier_model": "an/xnli", "embedder": "openai"}
    assert unsupported(GERMAN, Settings.model_validate({**LLM, **models})) is None
    failure = unsupported(GERMAN, Settings.model_validate(LLM))
    assert failure is not None
    assert "segmenter" not in failure.message
    assert "rules" not in failure.message


def test_english_and_what_cannot_be_told_are_served() -> None:
    for answer in ("The tower was finished in 1889 and stands in Paris.", "Psycho", "1960"):
        assert unsupported(answer, Settings()) is None


def test_sentences_of_another_language_stay_whole() -> None:
    claims = Clauses(Settings()).segment("", GERMAN).claims
    assert " ".join(claim.text for claim in claims) == GERMAN
    assert len(claims) == 2


def test_a_language_that_no_source_matches_has_no_source(settings: Settings, store: Store) -> None:
    english = page(
        "The tower was finished in 1889 and stands in Paris, where many people visit it every day."
    )
    german = page(
        "Der Turm wurde 1889 fertiggestellt, und viele Menschen besuchen ihn jeden Tag in Paris."
    )
    assert "German" in unmatched(GERMAN, settings, [english])
    assert unmatched(GERMAN, settings, [english, german]) == ""
    assert unmatched("The tower stands in Paris, and it is high.", settings, [german]) == ""
    chosen = settings.model_copy(update={"sources": ("documents",)})
    note = Document("tower.txt", english.text.encode())
    report = finished(run("", GERMAN, chosen, store, [note]))
    assert {verdict.label for verdict in report.verdicts} == {"missing"}
    assert "German" in report.verdicts[0].reason
    assert report.pages
