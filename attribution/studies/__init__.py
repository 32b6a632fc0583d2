"""Comparisons and measurements over many runs."""
