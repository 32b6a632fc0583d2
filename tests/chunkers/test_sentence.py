from __future__ import annotations

from attribution.chunkers.sentence import SentenceWindows, sentences
from attribution.settings import Settings
from tests.make import page


def cut(text: str, limit: int = 500) -> list[str]:
    return [text[a:b] for a, b in sentences(text, limit)]


def test_sentences_end_where_punctuation_says_in_several_scripts() -> None:
    assert cut("One here. Two (there.) Three!\nA line\n\nJ. Smith came.") == [
        "One here.", "Two (there.)", "Three!", "A line", "J. Smith came.",
    ]  # fmt: skip
    assert cut("これは本です。それも。") == ["これは本です。", "それも。"]
    assert cut("ما هذا؟ هذا كتاب. It costs 3.50 euros.") == ["ما هذا؟", "هذا كتاب.", "It costs 3.50 euros."]


def test_a_sentence_over_the_limit_is_cut_between_words() -> None:
    assert cut("aaa bbb ccc ddd. End.", 8) == ["aaa bbb", "ccc ddd.", "End."]
    assert cut("abcdefghij kl.", 4) == ["abcd", "efgh", "ij", "kl."]


def test_windows_step_by_the_stride_and_leave_nothing_out() -> None:
    p = page("One is. Two is. Three is. Four is. Five is.")
    chunks = SentenceWindows(Settings(window_sentences=3, window_stride=2)).chunk(p)
    assert [c.text for c in chunks] == ["One is. Two is. Three is.", "Three is. Four is. Five is."]
    wide = SentenceWindows(Settings(window_sentences=2, window_stride=9)).chunk(p)
    assert [c.text for c in wide] == ["One is. Two is.", "Three is. Four is.", "Five is."]
