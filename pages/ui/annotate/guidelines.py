"""The guidelines for annotators, in our own words, with an example of each case. Imports no streamlit."""

from __future__ import annotations

from pages.ui.html.render import Node, el

STEPS = (
    "First read the response and the conversation before it. The source stays hidden, because the response must be "
    "understood without it.",
    "Then, if you understood it, read the source. Everything that the response says must follow from the source and "
    "the conversation. What you know yourself does not count, and it does not matter whether the source is right.",
    "Small differences in wording are fine. One wrong or added detail is enough for “no”.",
)
# (case, question, response, source, answer, why)
CASES = (
    (
        "Interpretable",
        "When was the Eiffel Tower finished?",
        "It was finished in 1889.",
        "",
        "Yes: the question says what “it” is.",
    ),
    (
        "Not interpretable",
        "Tell me about towers.",
        "He finished it two years later.",
        "",
        "No: nothing says who “he” is, what “it” is, or later than what.",
    ),
    (
        "Attributable",
        "When was the Eiffel Tower finished?",
        "It was finished in 1889.",
        "The tower opened in March 1889, when its construction was complete.",
        "Yes: “According to the source, the Eiffel Tower was finished in 1889” is true.",
    ),
    (
        "Partly supported",
        "When was the Eiffel Tower finished?",
        "It was finished in 1889 after two years of work and is the most visited monument in the world.",
        "The tower opened in March 1889, when its construction was complete.",
        "No: the source says nothing about the two years or the visitors. One such detail is enough.",
    ),
    (
        "True, but not in the source",
        "What is the capital of France?",
        "Paris is the capital of France.",
        "Paris lies on the Seine and has two million inhabitants.",
        "No: it is true, but this source does not say so.",
    ),
    (
        "Contradicted",
        "How high is it?",
        "It is 300 metres high.",
        "With its antennas, the tower is 330 metres high.",
        "No: the source says something else.",
    ),
    (
        "Time",
        "Who won yesterday?",
        "Spain won yesterday's final.",
        "On 14 July 2024, Spain won the final.",
        "Yes, if the response was written on 15 July 2024: the time is shown under the conversation.",
    ),
    (
        "Nothing to check",
        "Can you help me?",
        "Of course! What would you like to know?",
        "The tower opened in March 1889.",
        "Interpretable, but not attributable: it says nothing that the source could support.",
    ),
    (
        "Flag",
        "",
        "The tower � � � in 18",
        "",
        "Flag it, and say why: the text is corrupted, it is not shown properly, the source cannot be made out, or it "
        "takes an expert to judge. A flag removes the task from your queue. The other annotators keep it.",
    ),
)
KEYS = (
    ("y, n", "yes, no"),
    ("f", "flag; then 1 to 4 for the reasons, and Enter"),
    ("u", "undo the last answer"),
    ("←, →", "the task before, the task after"),
    ("w, e", "write a justification, an explicature"),
    ("/", "find in the source"),
    ("Esc", "leave a text field, so that the keys work again"),
)


def guidelines() -> Node:
    """All of it, folded."""
    cases = [_case(*case) for case in CASES]
    keys = [el("div", el("dt", el("code", key)), el("dd", what)) for key, what in KEYS]
    return el(
        "details",
        el("summary", "Guidelines, examples and keys"),
        el("ol", *(el("li", step) for step in STEPS)),
        el("div", *cases, class_="ax-cases"),
        el("dl", *keys, class_="ax-keys"),
        class_="ax-guidelines",
    )


def _case(case: str, question: str, response: str, source: str, why: str) -> Node:
    parts = (("User", question), ("Response", response), ("Source", source))
    lines = [el("p", el("strong", f"{label}: "), text) for label, text in parts if text]
    return el("div", el("h4", case), *lines, el("p", why, class_="why"))
