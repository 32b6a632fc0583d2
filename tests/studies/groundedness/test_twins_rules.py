import random

import pytest

from attribution.studies.groundedness.twins import KINDS, alterations, apply, twins
from tests.studies.groundedness.test_twins import restored

CONTEXT = (
    "Gustave Eiffel's company built the tower in Paris between 1887 and 1889. In 1925 Victor Lustig sold it twice. "
    "Thomas Edison visited it in Lyon."
)


def made(answer: str, kind: str, context: str = CONTEXT) -> list[str]:
    return [
        apply(answer, e, kind).response
        for e in alterations(answer, context, kind, random.Random(1))
    ]


@pytest.mark.parametrize(
    ("answer", "kind", "expected"),
    [
        ("The tower stands in Paris.", "negation", "The tower does not stand in Paris."),
        ("The tower was built in 1889.", "negation", "The tower was not built in 1889."),
        ("The tower was not built of wood.", "negation", "The tower was built of wood."),
        ("The company built the tower.", "negation", "The company did not build the tower."),
        ("Some towers are made of iron.", "scope", "All towers are made of iron."),
        ("The lift is often closed in winter.", "scope", "The lift is always closed in winter."),
        ("The tower has at least 300 steps.", "scope", "The tower has at most 300 steps."),
        ("The lift opened two years later.", "order", "The lift opened two years earlier."),
        (
            "The lift was built after the tower had opened.",
            "order",
            "The lift was built before the tower had opened.",
        ),
        (
            "1. Open the lid.\n2. Press the switch.",
            "order",
            "1. Press the switch.\n2. Open the lid.",
        ),
    ],
)
def test_alterations(answer: str, kind: str, expected: str) -> None:
    assert expected in made(answer, kind)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("Some towers are made of iron.", "negation"),  # "some are not" may be true too
        ("The tower may be closed.", "negation"),
        ("Is the tower tall?", "negation"),
        ("I think the tower is ugly.", "negation"),
        (
            "The **tower** stands in Paris.",
            "negation",
        ),  # marks inside: the words could not be placed
        ("Apollo 11 landed on the Moon.", "number"),
        ("The war of 1914–1918 was long.", "number"),
        ("Ten-pin bowling is a sport.", "number"),
        ("It is the most visited monument.", "scope"),
        ("Generally accepted principles apply.", "scope"),
        ("The tower was named after Gustave Eiffel.", "order"),
        ("1. The tower is tall.\n2. The bridge is long.", "order"),  # facts, no instructions
    ],
)
def test_what_would_not_be_false_or_fluent_is_left_alone(answer: str, kind: str) -> None:
    assert made(answer, kind) == []


def test_bounds_move_to_where_they_do_not_follow() -> None:
    (more,) = made("The tower weighs over 7,300 tonnes.", "number", "")
    assert int(more.split()[4].replace(",", "")) > 7300
    (year,) = made("The tower was finished in 1889.", "number", "")
    assert 1860 < int(year.rstrip(".").split()[-1]) < 1889


def test_a_name_comes_from_another_sentence_of_the_context() -> None:
    context = "Victor Lustig sold the tower twice. Thomas Edison visited it with Gustave Eiffel."
    found = made("The tower was sold twice by Victor Lustig.", "name", context)
    assert (
        set(found)
        <= {f"The tower was sold twice by {n}." for n in ("Thomas Edison", "Gustave Eiffel")}
        and found
    )
    assert (
        made("Thomas Edison visited it.", "name", "Thomas Edison visited it with Gustave Eiffel.")
        == []
    )


def test_twins_are_the_same_for_the_same_seed_and_keep_the_rest() -> None:
    answer = (
        "# The tower\n\nThe tower was built in 1889. It is often closed.\n\n- It stands in Paris."
    )
    first, again = twins(answer, CONTEXT, seed=3), twins(answer, CONTEXT, seed=3)
    assert first == again and {t.kind for t in first} >= {"number", "negation", "scope"}
    assert {t.kind for t in first} <= set(KINDS)
    for twin in first:
        assert twin.response != answer and restored(twin, answer) == answer
