"""Evoked errors: altered twins of grounded answers, as a labelled test set of one's own (T24, section 3)."""
