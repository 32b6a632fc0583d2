"""Changes by hand to a finished run: what changes, and the comparison of only what changed with the pages again."""
