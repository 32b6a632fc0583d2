"""Runs in files."""
