"""What a run cost."""

from __future__ import annotations

from attribution.types.base import Frozen


class LlmUsage(Frozen):
    """Use of a language model by one stage."""

    calls: int = 0  # requests with a reply
    cached: int = 0  # replies taken from the store
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # sum over requests; several run at once
    cost: float | None = None  # None: no prices set

    def since(self, before: LlmUsage) -> LlmUsage:
        """The use after `before`."""
        return LlmUsage(**{name: value - (getattr(before, name) or 0) for name, value in self if value is not None})


class Usage(Frozen):
    claims: int = 0
    searches: int = 0
    queries: int = 0  # sent to a search engine; limited by max_queries
    pages: int = 0
    downloads: int = 0  # pages fetched from the web; limited by max_pages
    seconds: float = 0.0  # wall clock of search and download; limited by max_seconds
    chunks: int = 0
    pairs: int = 0
    cached_pairs: int = 0
    llm: dict[str, LlmUsage] = {}  # by stage
