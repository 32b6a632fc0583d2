import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.prose import about_named

ROWS = "Ferry | Built | Owner\n\nAlder: Built 1998; Owner Osen\n\nBirch: Built 2004; Owner Lorne"
BLOCKS = "# Boats\n\n## Alder\n- Berths: 6\n\n## Birch\n- Berths: 4"
FIRMS = "Lind Ltd\nPier Road 1\nRegister: HRB 1\n\nLind Holding SE\nMill Lane 4\nRegister: HRB 3"


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The Birch was built in 1998.", ROWS, "Birch: Built 2004; Owner Lorne"),
        ("The Alder has 4 berths.", BLOCKS, "# Boats ## Alder - Berths: 6"),
        ("Lind Holding SE is HRB 1.", FIRMS, "Lind Holding SE Mill Lane 4 Register: HRB 3"),
        ("The Alder is older than the Birch.", BLOCKS, " ".join(BLOCKS.split())),
        ("The boats have 4 berths.", BLOCKS, " ".join(BLOCKS.split())),
        ("The Alder is old.", "Alder: it is old; and grey.", "Alder: it is old; and grey."),
    ],
)
def test_what_is_said_of_others_is_left_out(claim: str, text: str, expected: str) -> None:
    assert " ".join(about_named(claim, text).split()) == expected


@given(st.lists(st.sampled_from(["Alder", "## Birch", "a: b", "A: b 1; c 2", "", "|"]), max_size=9))
def test_what_stays_keeps_its_place(lines: list[str]) -> None:
    text = "\n".join(lines)
    shown = about_named("Alder", text)
    assert len(shown) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, shown, strict=True))
