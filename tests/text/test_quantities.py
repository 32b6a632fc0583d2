"""Values of two texts that stand to each other as a careful reader would say."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from attribution.text.quantities import Agreement, compare
from attribution.text.reading import values

EQUAL = """
1.2 billion dollars | $1,200 million
€2,500 million | €2.5 billion
£750k | £750,000
half a million letters | 500,000 letters
1.5m people | 1,500,000 inhabitants
0.35 million | 350,000
two and a half million | 2.5 million
two hundred and fifty thousand | 250,000
2 dozen eggs | 24 eggs
90 minutes | an hour and a half
2 hours 58 minutes | 178 minutes
two years and two months | 26 months
half a tonne | 500 kg
3 km | 3,000 metres
five feet three inches | 160 cm
100 °C | 212 °F
1 GWh | 1,000 MWh
14 March 2023 | 2023-03-14
the fourteenth of March 2023 | March 14, 2023
March 2023 | 14 March 2023
1962 | 4 May 1962
the 20th century | 4 May 1962
the 1960s | 1962
half past six | 18:30
6 p.m. | 18:00
noon | 12:00
a fifth of them | 20 %
one in three | 33.3 percent
seven out of ten | 70 %
twice a day | 2 times per day
every two years | every other year
daily | once a day
doubled | twofold
fewer than 1,000 people a day | about 900 people a day
less than 250 metres | 212 metres
not exceed 250 metres | 212 metres
no more than 40 | 38
at least 30 | 38
over 900 | 960
before 1970 | 1962
after 1955 | 4 May 1962
since 2019 | 2021
just under 300 | 294
about 330 | 328
nearly 40 lamps | 38 lamps
dozens of lamps | 38 lamps
about 9 million people | 8,961,989 people
5 to 10 km | 7 km
between 2019 and 2021 | 2020
3 × 10^6 cells | 3,000,000 cells
१२ metres | 12 metres
１２ metres | 12 metres
1\u00a0200 kg | 1,200 kg
won 3–1 | won by three goals to one
40 million pounds | £40 million
5 pounds | 5 lb
"""
DIFFERENT = """
12 feet | 12 metres
10 MWh | 10 GWh
100 mg | 100 g
€40 million | $40 million
40 million pounds | 40 million euros
CAD 30 million | AUD 30 million
6.4 % | 6.4 percentage points
-20 °F | -20 °C
30 miles | 30 km
twice a day | once a day
tripled | doubled
five million letters | 500,000 letters
14 May | 14 March
14 May 2023 | 14 March 2023
1889 | 1887
the 19th century | 4 May 1962
at most 20 lamps | 38 lamps
more than 250 metres | 212 metres
up to 100 MB | up to 50 MB
within 30 days | within 14 days
over 900 inhabitants | 820 inhabitants
after 1970 | 4 May 1962
about 330 | 420
6 p.m. | 7 p.m.
the third bridge | the second bridge
Article 5 | Article 6
won 2–1 | won 1–0
a third of voters | a quarter of voters
1939–1945 | 1939–1946
Monday | Tuesday
"""
UNRELATED = """
38 lamps | 900 people
212 metres | 1.4 million lire
12 kg | 14 metres
1962 | 38 lamps
£40 | 12 km
three times | third
"""


def rows(table: str, agreement: Agreement) -> list[tuple[str, str, Agreement]]:
    pairs = (
        line.split(" | ") for line in table.strip().encode().decode("utf-8").replace("\\u00a0", "\u00a0").split("\n")
    )
    return [(claim, source, agreement) for claim, source in pairs]


@pytest.mark.parametrize(
    ("claim", "source", "agreement"),
    [*rows(EQUAL, "equal"), *rows(DIFFERENT, "different"), *rows(UNRELATED, "not comparable")],
)
def test_two_values_agree_as_a_careful_reader_says(claim: str, source: str, agreement: Agreement) -> None:
    (one,), (two,) = values(claim), values(source)
    assert compare(one, two) == agreement
    if agreement != "equal":
        assert compare(two, one) == agreement


def test_what_says_more_than_the_source_is_compatible() -> None:
    for claim, source in (
        ("14 March 2023", "March 2023"),
        ("9 seasons", "over 9 seasons"),
        ("38 lamps", "dozens of lamps"),
    ):
        assert compare(values(claim)[0], values(source)[0]) == "compatible"


@pytest.mark.parametrize(
    "text", ["version 1.2.3", "see [3]", "10.1000/182", "one of them", "he may go", "it was second to none at all"]
)
def test_what_is_no_value_is_not_read(text: str) -> None:
    assert not [v for v in values(text) if v.kind not in ("rank",)]


def test_a_list_shares_the_unit_of_its_last() -> None:
    assert [v.high for v in values("They finished in 41, 43 and 47 minutes.")] == [2460, 2580, 2820]


def test_a_claim_about_all_holds_for_each() -> None:
    (none,) = values("No runner needed more than 50 minutes.")
    assert none.universal and none.high == 3000 and math.isinf(none.low)


@given(st.floats(0.001, 1e9), st.sampled_from("km m cm kg g tonnes hours minutes litres acres MWh GB".split()))
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
        st.sampled_from("12 1,200 3rd half a million of 40 % km $ € to - – 1962 May twice day every 6:30 pm".split()),
        max_size=9,
    )
)
def test_any_words_of_values_are_read(words: list[str]) -> None:
    text = " ".join(words)
    for value in values(text):
        assert value.low <= value.high or math.isnan(value.low)
        assert compare(value, value) in ("equal", "not comparable")
