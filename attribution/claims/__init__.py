"""Annotate claims: check-worthiness, independence, enrichment, coherence."""
