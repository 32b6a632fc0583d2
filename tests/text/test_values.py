import math
from datetime import date
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from attribution.text.quantities import Agreement, compare
from attribution.text.values import values

AGREEMENTS: tuple[Agreement, ...] = ("equal", "compatible", "different", "not comparable")


def rows() -> list[tuple[str, str, Agreement]]:
    """The pairs of value_pairs.txt, each under the heading of how it stands."""
    found: list[tuple[str, str, Agreement]] = []
    for line in Path(__file__).with_name("value_pairs.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            agreement = next(name for name in AGREEMENTS if line == f"[{name}]")
        elif line and not line.startswith("#"):
            claim, source = line.replace("\\u00a0", "\u00a0").split(" | ")
            found.append((claim, source, agreement))
    return found


@pytest.mark.parametrize("agreement", AGREEMENTS)
def test_two_values_agree_as_a_careful_reader_says(agreement: Agreement) -> None:
    wrong = []
    for claim, source, expected in rows():
        if expected == agreement:
            (one,), (two,) = values(claim), values(source)
            found = compare(one, two)
            if found != agreement:
                wrong.append((claim, source, found))
    assert not wrong


def test_only_a_strict_limit_of_the_claim_is_different_one_way_alone() -> None:
    for claim, source, _ in rows():
        (one,), (two,) = values(claim), values(source)
        if not {one.comparator, two.comparator} & {"more", "less"}:
            assert (compare(one, two) == "different") == (compare(two, one) == "different")


SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}


@given(
    st.integers(1, 9999),
    st.sampled_from(sorted(SCALES)),
    st.sampled_from(["ships", "euros", "tonnes", "km"]),
)
def test_a_scale_in_words_is_the_number_in_figures(number: int, scale: str, unit: str) -> None:
    (one,), (two,) = (
        values(f"{number} {scale} {unit}"),
        values(f"{number * SCALES[scale]:,.0f} {unit}"),
    )
    assert compare(one, two) == compare(two, one) == "equal"


@given(
    st.floats(1, 9999),
    st.sampled_from([("km", "m"), ("tonnes", "kg"), ("hours", "minutes"), ("GWh", "MWh")]),
)
def test_a_converted_unit_is_the_same_value_and_the_other_unit_alone_is_not(
    number: float, units: tuple[str, str]
) -> None:
    great, small = units
    factor = 60 if great == "hours" else 1000
    (one,), (two,), (swapped,) = (
        values(text)
        for text in (
            f"{number:.3f} {great}",
            f"{number * factor:.3f} {small}",
            f"{number:.3f} {small}",
        )
    )
    assert compare(one, two) == "equal"
    assert compare(one, swapped) == "different"


DAYS = st.dates(date(1001, 1, 1), date(2099, 12, 31)).filter(
    lambda day: (day.month, day.day) != (2, 29)
)  # of any year


@given(DAYS, st.sampled_from(["%-d %B %Y", "%B %-d, %Y", "%Y-%m-%d"]))
def test_a_date_is_the_same_in_every_form(day: date, form: str) -> None:
    (one,), (two,), (next_year,) = (
        values(text)
        for text in (
            day.strftime(form),
            f"{day:%-d} {day:%b} {day.year}",
            f"{day:%-d} {day:%B} {day.year - 1}",
        )
    )
    assert compare(one, two) == "equal"
    assert compare(one, next_year) == "different"


@pytest.mark.parametrize(
    "text",
    [
        "version 1.2.3",
        "see [3]",
        "10.1000/182",
        "one of them",
        "he may go",
        "it was second to none at all",
        "the 3rd and the twenty-first edition",
        "from 10⁻³ on",
        "the 0th century",
        "10⁹⁹⁹ of them",
    ],
)
def test_what_is_no_value_is_not_read(text: str) -> None:
    assert not values(text)


def test_a_limit_that_nobody_exceeds_is_an_upper_limit() -> None:
    text = "No runner needed more than 50 minutes."
    (value,) = values(text)
    assert (value.high, math.isinf(value.low)) == (3000, True)
    assert text[slice(*value.span)] == "more than 50 minutes"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It covers not more than 1\u202f200 km² today.", ["not more than 1\u202f200 km²"]),
        ("Over 900 people a day came.", ["Over 900"]),
        ("Between 5 and 10 kg, or 18 or older.", ["Between 5 and 10 kg", "18 or older"]),
        ("On 4 May 1962, at dawn.", ["4 May 1962"]),
        ("A third of voters paid US$5 million.", ["A third", "US$5 million"]),
        ("It took 2 hours and 58 minutes in May.", ["2 hours and 58 minutes", "May"]),
        ("Two-thirds of nineteen villages", ["Two-thirds", "nineteen"]),
    ],
)
def test_a_span_covers_the_whole_expression(text: str, written: list[str]) -> None:
    assert [text[slice(*value.span)] for value in values(text)] == written


@given(
    st.floats(0.001, 1e9),
    st.sampled_from("km m cm kg g tonnes hours minutes litres acres MWh GB".split()),
)
def test_a_value_equals_itself(number: float, unit: str) -> None:
    text = f"{number:.3f} {unit}"
    (one,), (two,) = values(text), values(f"It is {text} here")
    assert compare(one, two) == compare(two, one) == "equal"


@given(st.text(max_size=200))
def test_any_text_is_read_and_spans_are_inside(text: str) -> None:
    found = values(text)
    assert all(0 <= v.start < v.end <= len(text) for v in found)
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))


@given(
    st.lists(
        st.sampled_from(
            "12 1,200 3rd half a million of 40 % km $ € to - – 1962 May twice day every 6:30 pm".split()
        ),
        max_size=9,
    )
)
def test_any_words_of_values_are_read(words: list[str]) -> None:
    text = " ".join(words)
    for value in values(text):
        assert value.low <= value.high or math.isnan(value.low)
        assert compare(value, value) in ("equal", "not comparable")


def test_what_was_done_by_a_year_was_done_by_a_later_one() -> None:
    (earlier,), (later,) = values("by 1958"), values("by 1960")
    assert compare(later, earlier) == "equal"
    assert compare(earlier, later) == "different"
