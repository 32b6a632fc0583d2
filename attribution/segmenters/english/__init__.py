"""Word lists shared by the segmenters that work on a parse."""

from pathlib import Path

from attribution.text.words import word_lists

LEXICON = word_lists(Path(__file__).with_name("lexicon.toml"))
