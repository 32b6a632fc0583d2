import pytest

from attribution.evidence.steps import in_figures, rounded_as


@pytest.mark.parametrize(
    ("written", "figures"),
    [
        ("The war began in nineteen fourteen.", "The war began in 1914."),
        ("built in nineteen ninety-eight", "built in 1998"),
        ("in nineteen oh six", "in 1906"),
        ("in two thousand and nine", "in 2009"),
        ("a hundred and twenty members", "120 members"),
        ("twenty-first, a thirty-second ad, one-third", "21st, a thirty-second ad, one-third"),
        ("1 234 567 people", "1,234,567 people"),
        ("12'400 people", "12,400 people"),
        ("2.500.000 euros", "2.5 million euros"),
        ("version 2.500 of 12.5", "version 2.500 of 12.5"),
        ("one of the two ships", "one of the two ships"),
        ("In 1998 500 people came.", "In 1998 500 people came."),
        ("Boats: 2024 1200; 2025 1500", "Boats: 2024 1,200; 2025 1,500"),
        ("12000 cars, number 00123, 1990-2000", "12,000 cars, number 00123, 1990-2000"),
        ("$4,212 thousand, -$42 thousand", "$4.212 million, -$42,000"),
        ("Forty boats, 5 million people", "40 boats, 5 million people"),
        ("a million, half a million, five million", "1 million, half a million, 5 million"),
        ("1,500 million and 22,500,000,000,000", "1.5 billion and 22.5 trillion"),
        ("the first of the thousand islands", "the first of the thousand islands"),
        ("1,000" + ",000" * 9, "1,000" + ",000" * 9),
        ("no one, anyone", "no one, anyone"),
        ("twenty\nfourteen", "20\n14"),
        ("launched on 12.11.2004, 3.5.1998", "launched on 12 November 2004, 3 May 1998"),
        ("2004-11-12, 2004/11/12", "12 November 2004, 12 November 2004"),
        ("(mm/dd/yyyy) 11/12/2004", "(mm/dd/yyyy) 12 November 2004"),
        ("13/05/2004, 04/05/2004", "13 May 2004, 4 May 2004"),
        ("05/13/2004, 04/05/2004", "13 May 2004, 5 April 2004"),
        ("11/12/2004, 31.13.2004, 2004-00-01", "11/12/2004, 31.13.2004, 2004-00-01"),
    ],
)
def test_numbers_are_written_in_figures(written: str, figures: str) -> None:
    assert in_figures(written) == figures


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("5 million to 4.8 million", "5 million to 4.82 million", "5 million to 4.8 million"),
        ("4.2 million", "4,212,345 of 4.3 million", "4.2 million of 4.3 million"),
        ("1,200 people", "1200 people in 1201", "1,200 people in 1201"),
        ("4 million", "4.49 million", "4.49 million"),
        ("4.212 million", "4.2 million", "4.2 million"),
    ],
)
def test_a_number_is_written_as_the_claim_rounds_it(claim: str, text: str, expected: str) -> None:
    assert rounded_as(claim, text) == expected
