"""The functions of `import attribution`: check an answer, or do one of the steps alone.

Every function takes the settings of docs/settings.md as keywords, such as
`verifier="embedded-small"` or `top_k=8`, and the database and the language model of the
environment, or of `openai_base_url` and `openai_api_key`. BadInput names a setting or text that is
invalid, Unavailable what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from attribution import events, types
from attribution.reports import Exported, export
from attribution.settings import Settings, with_endpoint
from attribution.types import Claim, Evidence, Pair, Segmented
from attribution.verdicts import DecisionPolicy, deciding_first

if TYPE_CHECKING:
    import pandas

    from attribution.pipeline.judge import JudgedClaim


class Report(types.Report):
    """The result of a run: its claims, their verdicts, and the passages they were compared with."""

    def __str__(self) -> str:
        """Return a line for each claim: its verdict and its words."""
        labels = {verdict.claim_id: verdict.label for verdict in self.verdicts}
        lines = [f"{labels.get(claim.id, 'no verdict')}: {claim.text}" for claim in self.claims]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Report {self.id}: {len(self.claims)} claims, {len(self.pages)} pages>"

    def evidence_for(self, claim: Claim | str) -> tuple[Evidence, ...]:
        """Return the passages that a claim was compared with.

        Args:
            claim: A claim of the report, or its id.

        Returns:
            The passages that decide first; none for an unknown id.
        """
        claim_id = claim if isinstance(claim, str) else claim.id
        return tuple(sorted(self.evidence_of(claim_id), key=deciding_first))

    def to_html(self) -> str:
        """Return a web page in one file, which loads and runs nothing."""
        return self._export("html")

    def to_markdown(self) -> str:
        """Return the claims as a Markdown list, each with its verdict, sentence and source."""
        return self._export("markdown")

    def to_json(self) -> str:
        """Return the content of report.json, without the texts of the pages.

        Its schema is docs/report.schema.json.
        """
        return self._export("json")

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a row for each claim, in the order of the answer.

        The columns are those of the CSV export, with the verdict and the deciding passage.
        """
        import pandas

        from attribution.reports.listings import COLUMNS, table_rows

        return pandas.DataFrame(list(table_rows(Exported(self))), columns=list(COLUMNS))

    def _export(self, name: str) -> str:
        return export(name, Exported(self)).decode()


def check(
    question: str, answer: str, sources: str | Sequence[str] = ("library",), **settings: object
) -> Report:
    """Check the claims of an answer against sources.

    Args:
        question: The question, which may be empty.
        answer: The answer, as text or Markdown.
        sources: `library`, `collection:NAME`, `web`, a search engine, paths or URLs.
        **settings: Settings by name.

    Returns:
        The finished report, which is also saved.

    Raises:
        BadInput: The answer, a source or a setting is invalid.
        Unavailable: A model, package or key is missing.
        StoreError: The database cannot be used.

    Examples:
        >>> answer = "The main span of the Golden Gate Bridge is 1,280 metres long."
        >>> report = check("How long is the main span?", answer)
        >>> print(report)
        supported: The main span of the Golden Gate Bridge is 1,280 metres long.
        >>> "1,280" in report.evidence_for(report.claims[0])[0].deciding_sentence
        True
    """
    report = events.finished(stream(question, answer, sources, **settings))
    assert isinstance(report, Report)
    return report


def stream(
    question: str, answer: str, sources: str | Sequence[str] = ("library",), **settings: object
) -> Iterator[events.Event]:
    """Check the claims of an answer, and follow the run.

    Args:
        question: The question, which may be empty.
        answer: The answer, as text or Markdown.
        sources: `library`, `collection:NAME`, `web`, a search engine, paths or URLs.
        **settings: Settings by name.

    Yields:
        The events of the run as they happen; the last one is `events.Finished` with the Report.

    Raises:
        BadInput: The answer, a source or a setting is invalid.
        Unavailable: A model, package or key is missing.
        StoreError: The database cannot be used.

    Examples:
        >>> from attribution.events import VerdictReady
        >>> answer = "The main span of the Golden Gate Bridge is 1,280 metres long."
        >>> for event in stream("", answer):
        ...     if isinstance(event, VerdictReady):
        ...         print(event.verdict.label)
        supported
    """
    from attribution.pipeline.run import run

    own = Settings.from_environment(sources=sources, **with_endpoint(settings))
    for event in run(question, answer, own):
        if isinstance(event, events.Finished):
            event = replace(event, report=Report(**dict(event.report)))
        yield event


def segment(
    question: str, answer: str, segmenter: str = "sentences", **settings: object
) -> Segmented:
    """Split an answer into claims.

    Args:
        question: The question, which may be empty.
        answer: The answer, as text or Markdown.
        segmenter: What splits it, by name.
        **settings: Settings by name.

    Returns:
        The claims with their spans, in characters of the answer. A sentence that could not be
        split is one claim, and has a failure.

    Raises:
        BadInput: The answer or a setting is invalid.
        Unavailable: A model, package or key is missing.

    Examples:
        >>> [claim.text for claim in segment("", "The tower is tall. It stands in Paris.").claims]
        ['The tower is tall.', 'It stands in Paris.']
    """
    from attribution.pipeline import claims
    from attribution.pipeline.estimate import check_input

    own = Settings.from_environment(segmenter=segmenter, **with_endpoint(settings))
    check_input(question, answer, own)
    return claims.segment(question, answer, own)


def verify(pairs: Sequence[Pair], verifier: str = "auto", **settings: object) -> list[Evidence]:
    """Read texts as evidence for claims, as a run does.

    Args:
        pairs: Claim and text, and the title of the text's page if it is known.
        verifier: What reads them, by name; `auto` is the best one that is installed.
        **settings: Settings by name.

    Returns:
        For each pair, in order, the probabilities of the three relations, which sum to 1, and the
        sentence that decides.

    Raises:
        BadInput: A claim or a text is empty or too long, or a setting is invalid.
        Unavailable: A model, package or key is missing.

    Examples:
        >>> (piece,) = verify([("The tower stands in Rome.", "The tower stands in Paris.")])
        >>> piece.probabilities.contradicted > 0.5
        True
    """
    from attribution.pipeline.judge import read_pairs
    from attribution.verifiers import VERIFIERS

    own = Settings.from_environment(verifier=verifier, **with_endpoint(settings))
    return read_pairs(pairs, VERIFIERS.chosen(own), DecisionPolicy.of(dict(own)))


def judge(
    claim: str,
    passages: Sequence[str | Mapping[str, str]],
    verifier: str = "auto",
    **settings: object,
) -> JudgedClaim:
    """Decide a claim by passages.

    Args:
        claim: The claim.
        passages: Texts, or objects with `text`, `url` and `title`; best first.
        verifier: What reads them, by name; `auto` is the best one that is installed.
        **settings: Settings by name.

    Returns:
        The verdict, its strength, and the evidence: one piece for each passage, in order.

    Raises:
        BadInput: The claim or a passage is empty or too long, or a setting is invalid.
        Unavailable: A model, package or key is missing.

    Examples:
        >>> passage = "The tower was finished in 1889, after two years."
        >>> judged = judge("The tower was finished in 1889.", [passage])
        >>> judged.verdict.label
        'supported'
    """
    from attribution.pipeline.judge import judge
    from attribution.verifiers import VERIFIERS

    own = Settings.from_environment(verifier=verifier, **with_endpoint(settings))
    reader = VERIFIERS.chosen(own)
    return judge(claim, passages, reader, DecisionPolicy.of(dict(own)))
