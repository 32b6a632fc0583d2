"""A claim beside its variants: the same sentence with the values that a passage gives."""
