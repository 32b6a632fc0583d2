"""Who may choose each setting; `evidence.strangers` holds what comes from a page, a request or a file against it.

Strangers are visitors of the page, clients of the REST and MCP servers, and whoever made a file that is opened here.
The operator chooses by the command line and the environment. A setting that stands nowhere here is the operator's.
"""

from __future__ import annotations

from typing import Literal

Trust = Literal["anyone", "limit", "sources", "model", "session", "operator", "endpoint", "place"]

SETTINGS: dict[Trust, tuple[str, ...]] = {
    "anyone": (  # strangers choose them
        "segmenter", "verifier", "embedder", "chunker", "chunk_size", "chunk_overlap", "window_sentences",
        "window_stride", "worthiness", "independence", "enrichment", "ranking", "shortlist", "pages_per_claim", "top_k",
        "threshold", "contradiction_threshold", "coherence", "without_added", "query", "search_language", "fallback",
        "exclude", "input_price", "output_price",
    ),
    "limit": (  # strangers may lower them
        "max_queries", "max_pages", "max_seconds", "answer_limit", "page_bytes", "page_timeout", "connect_timeout",
        "read_timeout", "host_connections", "workers", "llm_timeout", "llm_deadline", "llm_retries", "llm_workers",
    ),
    "sources": ("sources",),  # never files and folders of this machine
    "model": ("segmenter_model", "embedding_model", "verifier_model", "gc_model"),  # names on the operator's list
    "session": ("openai_model",),  # typed in the page; a saved run names it, and does not choose it
    "operator": ("robots_timeout", "crawl_delay", "page_days", "llm_tokens"),
    "place": ("library", "database_url"),  # of this machine: in no report
    "endpoint": ("endpoint", "openai_base_url", "openai_api_key"),  # and its two names: in no report, and in no error
}  # fmt: skip
TRUST = {name: trust for trust, names in SETTINGS.items() for name in names}
SECRET = frozenset(SETTINGS["endpoint"])
PRIVATE = SECRET | frozenset(SETTINGS["place"])
