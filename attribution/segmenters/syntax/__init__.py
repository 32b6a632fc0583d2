"""What the segmenters that work on a parse share."""

from pathlib import Path

from attribution.text.lexical import word_lists

LEXICON = word_lists(Path(__file__).with_name("lexicon.toml"))
