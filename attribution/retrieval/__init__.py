"""Rank chunks by words and by vectors."""
