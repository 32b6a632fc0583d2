"""The predicates of a claim that has several: "It was dissolved in 1948 and merged with a rival"."""

from __future__ import annotations

import functools

from attribution.segmenters.clauses import split
from attribution.segmenters.english.drafts import in_statements
from attribution.text.remembering import remember
from attribution.text.sentences import is_english, sentences

LONGEST = 450  # characters of a claim that is cut
MOST = 4  # parts
_PRONOUNS = frozenset("it its he his him she her they their them this that these those".split())


@remember(1024)
def predicates(claim: str) -> tuple[str, ...]:
    """Return a statement for each predicate of a claim; none if it has one, or the rules are unsure of the cut."""
    if len(claim) > LONGEST or not is_english(claim) or len(sentences(claim)) > 1:
        return ()
    parts = tuple(text for text, _ in in_statements(claim, functools.partial(split, adjuncts=False)))
    own = claim.split()[0].lower()
    refer = any((first := part.split()[0].lower()) in _PRONOUNS and first != own for part in parts)
    return parts if 1 < len(parts) <= MOST and not refer else ()
