import pytest

from attribution.evidence.numerals import in_figures


@pytest.mark.parametrize(
    ("written", "figures"),
    [
        ("The war began in nineteen fourteen.", "The war began in 1914."),
        ("built in nineteen ninety-eight", "built in 1998"),
        ("in twenty twelve", "in 2012"),
        ("in nineteen oh six", "in 1906"),
        ("in two thousand and nine", "in 2009"),
        ("a hundred and twenty members", "120 members"),
        ("Forty boats", "40 boats"),
        ("1 234 567 people", "1,234,567 people"),
        ("12'400 people", "12,400 people"),
        ("2.500.000 euros", "2,500,000 euros"),
        ("version 2.500 of 12.5", "version 2.500 of 12.5"),
        ("one of the two ships", "one of the two ships"),
        ("In 1998 500 people came.", "In 1998 500 people came."),
        ("no one, anyone", "no one, anyone"),
        ("twenty\nfourteen", "20\n14"),
        ("launched on 12.11.2004, 3.5.1998", "launched on 12 November 2004, 3 May 1998"),
        ("2004-11-12, 2004/11/12", "12 November 2004, 12 November 2004"),
        ("11/12/2004, 31.13.2004, 2004-00-01", "11/12/2004, 31.13.2004, 2004-00-01"),
    ],
)
def test_numbers_are_written_in_figures(written: str, figures: str) -> None:
    assert in_figures(written) == figures
