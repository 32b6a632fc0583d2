import pytest

from attribution.evidence.judging import Judged, as_evidence
from attribution.evidence.rows import in_table, row_at
from attribution.policy import DecisionPolicy
from attribution.types import Judgement, Page, Probabilities

HARVEST = """The farms.

Birkhof: Manager Ilse Brandt; Area (ha) 142; Wheat 2022 (t) 610; Wheat 2023 (t) 655; Cows 0
Auhof: Manager Jan Tomek; Area (ha) 96; Wheat 2022 (t) 402; Wheat 2023 (t) 371; Cows 64
Lindenau: Manager Kurt Weiss; Area (ha) 75; Wheat 2022 (t) 288; Wheat 2023 (t) 301; Cows 120
"""
COUNTERS = """C1: street Mill Bridge; cyclists_2022 864900; cyclists_2023 931200; peak_hour 08:00
C2: street Kettle Lane; cyclists_2022 398700; cyclists_2023 376500; peak_hour 17:00
"""


FERRIES = """\
Tarvik–Skarholm: passengers 2022 41200; passengers 2023 46800; crossing minutes 35

Tarvik–Osen: passengers 2022 98100; passengers 2023 95400; crossing minutes 20

Osen–Vik: passengers 2022 12050; passengers 2023 13900; crossing minutes 50
"""
STATIONS = """\
Vellin: Opened 1868; Platforms 9; Passengers a day 42300; Height (m) 214
Tolm: Opened 1904; Platforms 2; Passengers a day 960; Height (m) 387
Upper Tolm: Opened 1911; Platforms 1; Passengers a day 140; Height (m) 642
"""
TURBINES = "Turbine | Power (MW)\n\nNorth: Power (MW) 42\n\nSouth: Power (MW) 37"
TRIAL = "Placebo: Patients 206; Withdrawals 22\nDrug: Patients 210; Withdrawals 12"
BOATS = """Anna: Length 28 m; Top speed 12 km/h; Fare €8
Clara: Length 900 cm; Top speed 40 km/h; Fare €25
Dora 2: Length 22 m; Top speed 18 km/h; Fare €9
"""
PUMPS = "Power (kW): M6 6.2; M9 9.1\nWeight (kg): M6 98; M9 112\n"


@pytest.mark.parametrize(
    ("claim", "text", "said"),
    [
        ("North has 37 MW.", TURBINES, "the claim says “37 MW”, the source “42 MW”"),
        ("South has 37 MW.", TURBINES, "entailed"),
        ("The length of Anna is 28 metres.", BOATS, "entailed"),
        ("Clara is 9 m long.", BOATS, "entailed"),
        ("Anna is 22 m long.", BOATS, "the claim says “22 m”, the source “28 m”"),
        ("The top speed of Dora 2 is 18 km/h.", BOATS, "entailed"),  # the 2 is of its name
        ("The fare of Dora 2 is €8.", BOATS, "the claim says “€8”, the source “€9”"),
        ("In the placebo group, 22 patients withdrew.", TRIAL, ""),
        ("Patients slept 48 minutes longer than with placebo.", TRIAL, ""),
        ("The placebo group had 210 patients.", TRIAL, "the claim says “210”, the source “206”"),
        ("The weight of the M9 is 112 kg.", PUMPS, "entailed"),
        ("The weight of the M6 is 112 kg.", PUMPS, "the claim says “112 kg”, the source “98 kg”"),
        ("Upper Tolm is the highest of the stations, at 642 m.", STATIONS, "entailed"),
        (
            "Upper Tolm lies 642 feet above sea level.",
            STATIONS,
            "the claim says “642 feet”, the source “642 m”",
        ),
        (
            "Tolm is the highest station.",
            STATIONS,
            "the source has “387” there, and “642” for Upper Tolm",
        ),
        (
            "The oldest station is Tolm.",
            STATIONS,
            "the source has “1904” there, and “1868” for Vellin",
        ),
        ("Vellin has 42,300 passengers a day.", STATIONS, "entailed"),
        (
            "Vellin has 42,300 passengers a year.",
            STATIONS,
            "the claim says “42,300 a year”, the source “42300 a day”",
        ),
        ("Birkhof harvested 655 tonnes of wheat in 2023.", HARVEST, "entailed"),
        (
            "Auhof harvested 402 tonnes of wheat in 2023.",
            HARVEST,
            "the claim says “402 tonnes”, the source “371 t”",
        ),
        ("Auhof has an area of 96 km².", HARVEST, "the claim says “96 km²”, the source “96 ha”"),
        ("Auhof keeps 120 cows.", HARVEST, "the claim says “120”, the source “64”"),
        (
            "Jan Tomek manages Lindenau.",
            HARVEST,
            "the claim says “Jan Tomek”, the source “Kurt Weiss”",
        ),
        ("Auhof harvested more wheat in 2023 than in 2022.", HARVEST, "the source has 371 and 402"),
        ("The wheat of Lindenau fell from 2022 to 2023.", HARVEST, "the source has 301 and 288"),
        ("Auhof has fewer cows than Birkhof.", HARVEST, "the source has 64 and 0"),
        ("Auhof has the most cows.", HARVEST, "the source has “64” there, and “120” for Lindenau"),
        (
            "The crossing from Osen to Vik takes 20 minutes.",
            FERRIES,
            "the claim says “20 minutes”, the source “50 minutes”",
        ),
        ("In 2023, 46,800 passengers took the ferry from Tarvik to Skarholm.", FERRIES, "entailed"),
        ("Kettle Lane counted 376,500 cyclists in 2023.", COUNTERS, "entailed"),
        (
            "Kettle Lane counted 398,700 cyclists in 2023.",
            COUNTERS,
            "the claim says “398,700”, the source “376500”",
        ),
        (
            "The peak hour of Kettle Lane is 08:00.",
            COUNTERS,
            "the claim says “08:00”, the source “17:00”",
        ),
    ],
)
def test_what_a_cell_says(claim: str, text: str, said: str) -> None:
    found = in_table(claim, text)
    assert (found.words or found.relation if found else "") == said


@pytest.mark.parametrize(
    "claim",
    [
        "Steinfeld harvested 655 tonnes of wheat in 2023.",  # no row of the table
        "Birkhof sold 655 tonnes of barley in 2023.",  # no column
        "Birkhof harvested 655 tonnes of wheat in 2021.",  # nor of that year
        "Birkhof harvested more than 600 tonnes of wheat in 2023.",
        "Lindenau has the most cows.",  # true: that alone is no support
        "Auhof has 64 cows and 96 hectares.",  # two numbers
        "",
    ],
)
def test_what_a_table_does_not_tell(claim: str) -> None:
    assert in_table(claim, HARVEST) is None


def test_another_row_says_nothing_of_a_claim() -> None:
    page = Page(
        id="p", url="", title="", site="", kind="document", fetched_at="", sha256="", text=HARVEST
    )
    birkhof = row_at(HARVEST, HARVEST.index("Birkhof"))
    assert birkhof
    text = HARVEST[slice(*birkhof.span)]
    judged = Judged(
        Judgement(Probabilities(entailed=0.9, contradicted=0.0, no_relation=0.1), (0, len(text)))
    )
    claim = "Auhof harvested 655 tonnes of wheat in 2023."
    found = as_evidence(
        "c", page, text, birkhof.span[0], 1.0, (claim, text), judged, None, (), DecisionPolicy()
    )
    assert found.relation == "no_relation"
    assert found.reservation and found.reservation.note == "the row is about Birkhof"
