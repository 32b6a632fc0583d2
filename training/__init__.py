"""Train and build the models that ship."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter


def command(description: str) -> ArgumentParser:
    """Return the parser of a program, whose help is the docstring of its module."""
    return ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
