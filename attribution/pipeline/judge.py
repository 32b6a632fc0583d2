"""A claim with given passages → its verdict: the decision of a run, without its search."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attribution.errors import BadInput
from attribution.evidence.judging import PlacedPassage, Reading, read
from attribution.evidence.origins import Origins
from attribution.text.genres import genre_of
from attribution.text.lines import readable
from attribution.text.urls import canonical, is_web, site
from attribution.text.words import composed
from attribution.types import Claim, Evidence, Page, Pair, Strength, Verdict, content_id
from attribution.verdicts import DecisionPolicy, decide
from attribution.verifiers import Verifier
from attribution.verifiers.calibration import strength_of
from attribution.verifiers.reader import Refusal, one_by_one

EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)([^*_\n]+)(?<=\S)\1(?![\w*])")
FIELDS = ("text", "url", "title")
FORM = (
    'expected "text" or {"text": …, "url": …, "title": …}, where address and title may be left out'
)


class Passage(NamedTuple):
    """A text, and where it is from if that is known: its page's address and title, or that of its
    section too.
    """

    text: str
    url: str = ""
    title: str = ""

    @classmethod
    def of(cls, given: object) -> Passage:
        """Return a passage.

        Args:
            given: A passage, its text, or {"text", "url", "title"}, where address and title may be
                left out or None.

        Raises:
            BadInput: It is anything else, or its text is empty.
        """
        if isinstance(given, Passage):
            return given
        fields = {"text": given} if isinstance(given, str) else given
        if not isinstance(fields, Mapping):
            raise BadInput(f"a passage is {type(fields).__name__}: {FORM}")
        fields = {name: value for name, value in fields.items() if value is not None}
        for name, value in fields.items():
            if name not in FIELDS or not isinstance(value, str):
                raise BadInput(f"a passage has a wrong {name!r}: {FORM}")
        if not fields.get("text", "").strip():
            raise BadInput(f"a passage has an empty text: {FORM}")
        return cls(**{**fields, "text": readable(fields["text"])})


@dataclass(frozen=True)
class JudgedClaim:
    """The verdict with its strength, and the evidence behind it: one piece for each passage, in
    order.
    """

    verdict: Verdict
    evidence: tuple[Evidence, ...]
    strength: Strength | None = None  # of a supported or contradicted claim

    def fields(self) -> dict[str, object]:
        """Return the row that the command line and the server give."""
        return {
            **self.verdict.model_dump(include={"label", "confidence", "reason"}),
            "strength": self.strength,
            "evidence": [
                piece.model_dump(include={"relation", "probabilities"}) for piece in self.evidence
            ],
        }


def judge(
    claim: str,
    passages: Sequence[Passage | str | Mapping[str, str]],
    verifier: Verifier,
    policy: DecisionPolicy,
) -> JudgedClaim:
    """Return the verdict on a claim by its passages.

    A passage that occurs twice counts once, and so do copies and passages of one address.

    Args:
        claim: The text of the claim; its Markdown emphasis is left out.
        passages: Best first.
        verifier: What reads them.
        policy: Everything else that turns them into a verdict.

    Raises:
        BadInput: The claim or a passage is empty or too long.
    """
    given = [Passage.of(passage) for passage in passages]
    different = dict.fromkeys(given)
    whole = [_whole(page) for page in Origins().marked([_page(one) for one in different])]
    checked = _claim(claim)
    (evidence,) = read([Reading(checked, whole)], verifier, policy)
    verdict = decide(checked, evidence, policy)
    by_passage = dict(zip(different, evidence, strict=True))
    in_order = tuple(by_passage[passage] for passage in given)
    return JudgedClaim(verdict, in_order, strength_of(verifier.version, verdict))


def read_pairs(pairs: Sequence[Pair], verifier: Verifier, policy: DecisionPolicy) -> list[Evidence]:
    """Return the evidence that each text is for its claim, as a run or `judge` reads it.

    Args:
        pairs: Claim and text, and the title of its page if it is known.
        verifier: What reads them.
        policy: Chooses the steps, and the thresholds of a relation.

    Raises:
        BadInput: A claim or a text is empty or too long.
    """
    readings: list[Reading] = []
    for claim, *source in pairs:
        page = _page(Passage(readable(source[0]), "", *source[1:]))
        readings.append(Reading(_claim(claim), [_whole(page)]))
    return [piece for (piece,) in read(readings, verifier, policy)]


def read_each(
    pairs: Sequence[Pair], verifier: Verifier, policy: DecisionPolicy
) -> list[Evidence | Refusal]:
    """Return what `read_pairs` returns; for a pair that could not be read, the reason."""
    return one_by_one(lambda some: read_pairs(some, verifier, policy), pairs)


def entailment(
    pairs: Sequence[Pair], verifier: Verifier, policy: DecisionPolicy
) -> list[float | None]:
    """Return the probability that each text entails its claim; None for one that can't be read."""
    pieces = read_each(pairs, verifier, policy)
    return [one.probabilities.entailed if isinstance(one, Evidence) else None for one in pieces]


def _claim(text: str) -> Claim:
    """Return a claim without its Markdown emphasis."""
    text = EMPHASIS.sub(r"\2", composed(text))
    return Claim(id=content_id(text), text=text, spans=(), worthiness="factual", independent=True)


def _whole(page: Page) -> PlacedPassage:
    return PlacedPassage(page, 0, len(page.text))


def _page(passage: Passage) -> Page:
    """Return the page of a passage; passages of one address share an id."""
    return Page(
        id=content_id(canonical(passage.url) if passage.url else passage.text),
        url=passage.url,
        title=passage.title,
        site=site(passage.url),
        kind="web" if is_web(passage.url) else "document",
        fetched_at="",
        sha256="",
        text=passage.text,
        genre=genre_of(passage.url, passage.title, passage.text),
    )
