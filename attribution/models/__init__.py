"""Model files that are too large for the repository: where they come from, and how they are made ready once."""
