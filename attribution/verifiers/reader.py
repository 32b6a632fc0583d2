"""How a pair is read: texts are checked, judgements kept in the store; and the models in the box.

These are one cross-encoder class in two sizes, each reading a pair in one pass. `embedded-base` is
all-mpnet-base-v2 with an adapter that is trained here; it is built once on the user's machine.
`embedded-small` ships ready-made. `training/README.md` describes their training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from attribution.errors import BadInput, LlmFailed
from attribution.models import files
from attribution.models.engine import OnnxModel, in_threads, load_once
from attribution.settings import Settings, models_folder
from attribution.tables import key_of
from attribution.types import Judgement, LlmUsage, Pair, Probabilities, content_id
from attribution.verifiers import Verifier
from attribution.verifiers.calibration import softmax

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attribution.store.store import Store

T = TypeVar("T")
CLAIM_TOKENS = 160  # a longer claim leaves too little room for the passage
CLAIM_CHARACTERS = 10 * CLAIM_TOKENS  # checked before tokenising
EVIDENCE_CHARACTERS = 200_000


Refusal = BadInput | LlmFailed  # why a pair has no judgement: its texts, or the language model


def one_by_one(
    read: Callable[[Sequence[Pair]], Sequence[T]], pairs: Sequence[Pair]
) -> list[T | Refusal]:
    """Return what is read of each pair, or why nothing is; one refusal doesn't affect others."""
    if not pairs:
        return []
    try:
        return [*read(pairs)]
    except BadInput as error:
        if len(pairs) == 1:
            return [BadInput(str(error).removeprefix("pair 1: "))]
    except LlmFailed as error:
        if len(pairs) == 1:
            return [error]
    half = len(pairs) // 2
    return one_by_one(read, pairs[:half]) + one_by_one(read, pairs[half:])


def check_pairs(pairs: Sequence[Pair]) -> None:
    """Raise BadInput for a claim or evidence that is empty or too long."""
    for number, pair in enumerate(pairs, 1):
        _check_text(f"pair {number}", "claim", pair[0], CLAIM_CHARACTERS)
        _check_text(f"pair {number}", "evidence", pair[1], EVIDENCE_CHARACTERS)


def _check_text(where: str, name: str, text: str, most: int) -> None:
    if not text.strip():
        raise BadInput(f"{where}: the {name} is empty; expected text")
    if len(text) > most:
        raise BadInput(
            f"{where}: {len(text):,} characters of {name}, at most {most:,} can be read: split it"
        )


def check_claim_tokens(claim: str, tokens: int) -> None:
    """Raise BadInput for a claim with too many tokens."""
    if tokens > CLAIM_TOKENS:
        raise BadInput(
            f"the claim {claim[:40]!r}… has {tokens} tokens, at most {CLAIM_TOKENS} fit: "
            "segment it first"
        )


class CachedVerifier:
    """A verifier that is asked only for pairs missing from the store, and counts pairs."""

    def __init__(self, verifier: Verifier, store: Store) -> None:
        self.version = verifier.version
        self.reads_question = bool(getattr(verifier, "reads_question", False))
        self._key = key_of(verifier)
        self.verifier = verifier
        self._store = store
        self._new: set[str] = set()  # keys of the judgements made here
        self.reset_counts()

    def reset_counts(self) -> None:
        """Reset the counts: the report counts only the final round."""
        self.pairs = 0
        self.cached_pairs = 0

    @property
    def usage(self) -> LlmUsage | None:
        """The use of a language model so far; None where none is asked."""
        usage: LlmUsage | None = getattr(self.verifier, "usage", None)
        return usage

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each (claim, evidence) or (claim, evidence, title), in order."""
        keys = [content_id(self._key, *pair) for pair in pairs]
        judgements = self._store.cache.values("judgement", list(dict.fromkeys(keys)))
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in judgements}
        if new:
            computed = dict(zip(new, self.verifier.verify(list(new.values())), strict=True))
            self._store.cache.put("judgement", computed)
            self._new.update(computed)
            judgements |= computed
        self.pairs += len(pairs)
        self.cached_pairs += sum(key not in self._new for key in keys)
        return [judgements[key] for key in keys]


# --- the models in the box ---

HERE = Path(__file__).parent
WINDOW = 256  # tokens of claim, title and passage together
TITLE_TOKENS = 24
MOST_WINDOWS = 300  # of one passage
READING = "1"  # version of how a pair is read, part of the verifier's version


@dataclass(frozen=True)
class Size:
    """A network and the form of its input.

    Attributes:
        folder: What ships of it.
        weights: The file whose hash is part of the verifier's version.
        first, separator: Ids of special tokens: before the passage, and around the claim.
        is_bert: Its graph takes a batch of ids with a mask and types, rather than ids alone.
    """

    name: str
    folder: Path
    weights: str
    first: int
    separator: tuple[int, ...]
    is_bert: bool


BASE = Size("embedded-base", HERE / "base", "adapter_model.safetensors", 0, (2, 2), False)
SMALL = Size("embedded-small", HERE / "small", "model.onnx", 101, (102,), True)


def make(_settings: Settings | None = None) -> Path:
    """Build the base model unless it exists; return the path of its graph.

    Raises:
        Unavailable: all-mpnet-base-v2 cannot be obtained, or a shipped file is damaged.
    """
    from attribution.models import merge

    files.check_shipped(BASE.folder)
    return merge.build(BASE.folder, models_folder() / BASE.name)


class Network(OnnxModel):
    """A cross-encoder with the outputs entailed, no relation, contradicted."""

    def __init__(self, size: Size) -> None:
        self.size = size
        if size.is_bert:
            files.check_shipped(size.folder)
            super().__init__(size.folder / "model.onnx")
        else:
            super().__init__(make())

    def read(self, claim: Sequence[int], passage: Sequence[int]) -> list[float]:
        """Return the probabilities of the three relations for one window of a passage."""
        before = [self.size.first, *passage, *self.size.separator]
        ids = [*before, *claim, self.size.separator[0]]
        output = self.run(self._inputs(ids, len(before)))[0]
        return softmax(output.ravel())

    def _inputs(self, ids: Sequence[int], before: int) -> dict[str, NDArray[np.generic]]:
        import numpy as np

        if not self.size.is_bert:
            return {"ids": np.array(ids, dtype=np.int64)}
        row = np.array([ids], dtype=np.int64)
        types = np.zeros_like(row)
        types[0, before:] = 1
        return {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": types}


@load_once
def network(size: Size) -> Network:
    """Load a network at its first use."""
    return Network(size)


@cache
def weights_id(size: Size) -> str:
    files.check_shipped(size.folder)
    return files.digest(size.folder / size.weights)[:8]


class Reader:
    """Reads a claim against a whole passage with the title of its page, in one pass."""

    def __init__(self, size: Size) -> None:
        self._size = size
        self.version = f"{size.name}/{weights_id(size)}.{READING}"

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each pair, in order.

        A passage that doesn't fit into `WINDOW` tokens is read in overlapping windows, and the
        most decisive one counts.

        Raises:
            BadInput: A claim or a passage is empty or too long.
        """
        check_pairs(pairs)
        model = network(self._size)
        return in_threads(lambda pair: _judgement(model, *pair), pairs)


def _judgement(model: Network, claim: str, passage: str, title: str = "") -> Judgement:
    claim_ids, _ = model.encode(claim)
    check_claim_tokens(claim, len(claim_ids))
    title_ids: list[int] = []
    if title and not passage.startswith(title):
        title_ids = model.encode(f"{title.rstrip('.')}.")[0][:TITLE_TOKENS]
    passage_ids, _ = model.encode(passage)

    room = WINDOW - len(claim_ids) - len(title_ids) - 4
    readings = [
        model.read(claim_ids, [*title_ids, *passage_ids[start : start + room]])
        for start in _starts(len(passage_ids), room)
    ]
    entailed, _, contradicted = max(readings, key=lambda p: max(p[0], p[2]))
    return Judgement(
        Probabilities(
            entailed=entailed,
            contradicted=contradicted,
            no_relation=max(0.0, 1 - entailed - contradicted),
        )
    )


def _starts(tokens: int, room: int) -> Sequence[int]:
    """Return where windows of `room` tokens begin: each repeats a quarter of the one before."""
    if tokens <= room:
        return [0]
    step = room - room // 4
    return range(0, tokens - room // 4, step)[:MOST_WINDOWS]


def embedded_base(settings: Settings) -> Reader:
    """Verifier `embedded-base`."""
    return Reader(BASE)


def embedded_small(settings: Settings) -> Reader:
    """Verifier `embedded-small`."""
    return Reader(SMALL)
