"""Commands that compare, measure and make test sets."""
