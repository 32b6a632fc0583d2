"""The parts of the Annotate page."""
