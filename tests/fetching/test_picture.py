import base64
from io import BytesIO

import pytest
from PIL import Image

from attribution.errors import FetchFailed
from attribution.fetching.pdf import MAX_SIDE
from tests.fetching.test_sandbox import slow_pdf
from tests.make import reading
from tests.servers import pdf_bytes

SPREAD = "The Po) Tj 90 0 Td (flows) Tj 95 0 Td (east."  # as in a justified line
RIVERS = pdf_bytes("The Nile flows north.", "The Rhine is navi-gable up to Basel.", SPREAD)


@pytest.mark.parametrize(
    ("number", "sentence", "boxes"),
    [
        (1, "The Nile flows north.", 1),
        (
            2,
            "the Rhine is\nnavigable up to Basel",
            1,
        ),  # hyphen and line break are those of the text that was read
        (3, "The Po flows east.", 1),
        (2, "The Nile flows north.", 0),
        (1, "…", 0),
    ],
)
def test_the_sentence_is_boxed_where_it_stands(number: int, sentence: str, boxes: int) -> None:
    picture = reading().draw(RIVERS, "rivers.pdf", number, sentence)
    image = Image.open(BytesIO(base64.b64decode(picture.png))).convert("L")
    assert image.size == (picture.width, picture.height)
    assert max(image.size) <= MAX_SIDE
    assert len(picture.boxes) == boxes
    ink = image.point(lambda grey: 255 * (grey < 128)).getbbox()
    for x, y, wide, high in picture.boxes:  # the box is that of the ink, within its line
        assert ink is not None
        assert abs(x * picture.width - ink[0]) < 5
        assert abs((x + wide) * picture.width - ink[2]) < 12
        assert y * picture.height <= ink[1] + 2
        assert high < 0.1


@pytest.mark.parametrize(("content", "number"), [(RIVERS, 4), (b"%PDF-1.4 nothing", 1)])
def test_what_cannot_be_drawn_is_said(content: bytes, number: int) -> None:
    with pytest.raises(FetchFailed, match=f"page {number} of a.pdf is damaged"):
        reading().draw(content, "a.pdf", number, "x")


def test_a_page_that_takes_too_long_ends_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.fetching.sandbox.PICTURE_SECONDS", 0.05)
    with pytest.raises(FetchFailed) as caught:
        reading().draw(slow_pdf(), "slow.pdf", 1, "word")
    assert caught.value.kind == "timed_out"
