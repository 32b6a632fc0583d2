"""Text: Markdown, passages, sentences, words, values, parse."""
