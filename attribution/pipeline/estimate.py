"""Before a run starts: check its input, load its models, and estimate its claims, pages, seconds
and prompts to a language model.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

from attribution.claims import worthiness
from attribution.claims.context import check_independence
from attribution.claims.llm_annotation import LlmAnnotator, llm_tasks
from attribution.conversation import as_text, transcript
from attribution.embedders import EMBEDDERS
from attribution.embedders.minilm import embed_statically
from attribution.errors import BadInput, StageFailure
from attribution.evidence.sources import existing
from attribution.library.folder import FolderSearcher
from attribution.network import tls_context
from attribution.pipeline.claims import annotate, segment
from attribution.segmenters import SEGMENTERS
from attribution.segmenters.english.tree import lemma_of
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.sentences import detect
from attribution.text_files import PROBLEM, has_half_pair
from attribution.types import Claim, Document, LlmUsage, Report, Turn
from attribution.verifiers import VERIFIERS, Verifier

SECONDS_PER_RUN = 1.0  # whatever it reads
SECONDS_PER_PAGE = 0.6  # of the web
SECONDS_PER_PASSAGE = 0.01  # of a document, to embed it
SHARE_READ = 0.4  # of a claim's passages: those far from it are not read
SAMPLE = 5  # passages by which a machine is measured
SENTENCES = 1  # read besides them, as a run does for each claim
PACES = (0.03, 0.3)  # seconds for a passage on a fast and on a slow machine, until it is measured
LEAST_PAIRS = 20  # that a run must have read to tell the pace
loaded = threading.Event()  # set once this process has loaded what a first run waits for
_pace: dict[str, float] = {}  # seconds per passage in this process, by the verifier's version


def check_input(question: str, answer: str, settings: Settings) -> None:
    """Check that question and answer can be checked.

    Raises:
        BadInput: The answer is empty, or one of the two is too long or not text.
    """
    if not answer.strip():
        raise BadInput("The answer is empty: paste the text whose claims should be checked.")
    for name, text in (("answer", answer), ("question", question)):
        if has_half_pair(text):
            raise BadInput(f"The {name} is not text: {PROBLEM}.")
        controls = sum(char < " " and not char.isspace() for char in text)
        if controls > max(2, len(text) // 50):
            raise BadInput(f"The {name} is not text: it has {controls} control characters.")
        if len(text) > settings.answer_limit:
            raise BadInput(
                f"The {name} has {len(text):,} characters; at most {settings.answer_limit:,} can "
                "be checked. Shorten it, or check it in parts."
            )


def measure_pace(verifier: Verifier) -> None:
    """Measure how long a verifier takes for a passage on this machine, under its present load."""
    sentence = "The bridge over the river was opened by the mayor after four years of work. "
    texts = [sentence * 6] * SAMPLE + [sentence] * SENTENCES
    pairs = [(f"The bridge was opened in {1900 + n}.", text) for n, text in enumerate(texts)]
    started = time.perf_counter()
    verifier.verify(pairs)
    _pace[verifier.version] = (time.perf_counter() - started) / SAMPLE


def note_pace(report: Report) -> None:
    """Note how long a finished run took for each passage."""
    usage = report.usage
    new = usage.pairs - usage.cached_pairs
    if report.evidence and new >= max(LEAST_PAIRS, usage.cached_pairs):
        passages = len(report.evidence) * new / usage.pairs
        _pace[report.versions["verifier"]] = report.timings["verify"] / passages


class Duration(NamedTuple):
    """The least and the most seconds that a run may take; alike once its verifier was measured."""

    least: float
    most: float


@dataclass(frozen=True)
class Estimate:
    """What a run is expected to need. Claims are exact unless a language model makes them."""

    claims: int  # sentences, if a model segments
    checked: int  # of these
    pages: int
    seconds: Duration | None  # None until the verifier, unless it is a bundled one, was measured
    llm: Mapping[str, LlmUsage]  # by stage; replies in the store cost nothing


def estimate(
    question: str,
    answer: str,
    settings: Settings,
    documents: Sequence[Document] = (),
    store: Store | None = None,
    context: Sequence[Turn] = (),
) -> Estimate:
    """Estimate `run` without searching or prompting.

    Args:
        question: The question, which may be empty.
        answer: The answer to check.
        settings: The settings of the run.
        documents: The user's own sources.
        store: The database, whose replies of the language model cost nothing.
        context: The conversation before the question, which the language model reads as well.

    Raises:
        BadInput, UnknownName, Unavailable: As a run does.
    """
    check_input(question, answer, settings)
    shown = transcript(question, context)
    claims, llm = _claims(shown, answer, settings)
    if llm_tasks(settings):
        annotator = LlmAnnotator(settings, store, threading.Event())
        annotated = check_independence(claims)
        for task in annotator.tasks:
            conversation = as_text(context) if task == "independence" else shown
            llm[task] = annotator.estimate(task, conversation, answer, annotated)
    factual = [claim for claim in claims if claim.worthiness == "factual"]
    characters = sum(len(document.content) for document in documents)
    chunks = characters // settings.chunk_size
    sources = [existing(text) for text in settings.sources]
    is_searched = any(source.kind != "documents" for source in sources)
    count = settings.top_k if is_searched else min(settings.top_k, chunks + len(documents))
    passage = "x" * settings.chunk_size
    pairs = [(claim.text, passage) for claim in factual for _ in range(count)]
    verifier = VERIFIERS.chosen(settings)
    estimate_llm = getattr(verifier, "estimate", None)
    usage: LlmUsage | None = estimate_llm(pairs) if estimate_llm else None
    if usage:
        llm["verify"] = usage
    pages = len(documents) + sum(source.kind == "address" for source in sources)
    if is_searched:
        pages += len(factual) * settings.pages_per_claim
    passages = min(chunks, len(factual) * settings.shortlist or chunks)
    seconds = SECONDS_PER_RUN + passages * SECONDS_PER_PASSAGE
    if any(source.searches_web for source in sources):
        seconds += pages * SECONDS_PER_PAGE
    seconds += sum(used.seconds for used in llm.values()) / settings.llm_workers
    paces = (0.0, 0.0) if usage else _paces(verifier.version, settings)
    read = len(pairs) * SHARE_READ
    duration = paces and Duration(*(seconds + read * pace for pace in paces))
    return Estimate(len(claims), len(factual), pages, duration, llm)


def _paces(version: str, settings: Settings) -> tuple[float, float] | None:
    """Return the least and the most seconds that a passage takes; None if that is unknown."""
    measured = _pace.get(version)
    if measured is not None:
        return measured, measured
    return PACES if VERIFIERS[settings.verifier].bundled else None


def _claims(
    question: str, answer: str, settings: Settings
) -> tuple[list[Claim], dict[str, LlmUsage]]:
    """Return the claims by rules; for a segmenter with a model, the sentences that it would get."""
    name = settings.segmenter
    usage = SEGMENTERS.build(name, settings).estimate(question, answer)
    if usage is not None or SEGMENTERS[name].needs:
        settings = settings.model_copy(update={"segmenter": "sentences"})
    claims = segment(question, answer, settings).claims
    return worthiness.classify(claims, answer), {"segment": usage} if usage else {}


# --- what a first run would wait for ---


def warm_up(settings: Settings) -> None:
    """Load the bundled models and the library's index, and measure the verifier's pace.

    Nothing is sent anywhere. To be called once per process.
    """
    try:
        _load(settings)
    finally:
        loaded.set()  # what could not be loaded, a run reports


def _load(settings: Settings) -> None:
    load_rules()
    if VERIFIERS[settings.verifier].bundled and not VERIFIERS[settings.verifier].missing(settings):
        verifier = VERIFIERS.chosen(settings)
        verifier.verify([("A claim.", "A text.")])
        measure_pace(verifier)
    if EMBEDDERS[settings.embedder].bundled:
        embed_statically(["A text."])
        EMBEDDERS.chosen(settings).embed(["A text."])
    with suppress(StageFailure):  # a run with the library among its sources reports it
        FolderSearcher(settings).search("A text.", 1)
    gc.collect()
    gc.freeze()  # to look through all that is loaded would stop every thread for 0.13 s


def load_rules() -> None:
    """Load what every run needs, whatever its models: rules, index and certificates."""
    import_module("faiss")
    tls_context()
    detect("A text.")
    text = "The bridge was opened in 1932."
    claim = Claim(id="", text=text, spans=((0, len(text)),))
    annotate("", text, [claim])
    lemma_of("were", "VERB")
