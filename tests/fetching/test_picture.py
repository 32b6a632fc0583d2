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
    ("number", "sentence"),
    [
        (1, "The Nile flows north."),
        (2, "the Rhine is\nnavi-gable up to Basel"),
        (3, "The Po flows east."),
    ],
)
def test_the_sentence_is_boxed_where_it_stands(number: int, sentence: str) -> None:
    picture = reading().draw(RIVERS, "rivers.pdf", number, sentence)
    image = Image.open(BytesIO(base64.b64decode(picture.png))).convert("L")
    assert image.size == (picture.width, picture.height)
    assert max(image.size) <= MAX_SIDE
    ink = image.point(lambda grey: 255 * (grey < 128)).getbbox()
    assert ink is not None
    first, last = picture.boxes[0], picture.boxes[-1]
    assert first.left * picture.width == pytest.approx(ink[0], abs=5)
    assert (last.left + last.width) * picture.width == pytest.approx(ink[2], abs=12)
    assert first.top * picture.height <= ink[1] + 2
    assert max(box.height for box in picture.boxes) < 0.1


def test_of_a_sentence_that_is_parted_by_a_note_the_first_words_are_boxed() -> None:
    noted = pdf_bytes("The Nile flows slowly north 12 to the sea.")
    picture = reading().draw(noted, "a.pdf", 1, "The Nile flows slowly north to the sea.")
    assert picture.boxes


@pytest.mark.parametrize("sentence", ["The Nile flows north.", "…"])
def test_a_sentence_that_is_not_on_the_page_has_no_box(sentence: str) -> None:
    assert reading().draw(RIVERS, "rivers.pdf", 2, sentence).boxes == ()


@pytest.mark.parametrize(("content", "number"), [(RIVERS, 4), (b"%PDF-1.4 nothing", 1)])
def test_what_cannot_be_drawn_is_said(content: bytes, number: int) -> None:
    with pytest.raises(FetchFailed, match=f"page {number} of a.pdf is damaged"):
        reading().draw(content, "a.pdf", number, "x")


def test_a_page_that_takes_too_long_ends_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.fetching.sandbox.PICTURE_SECONDS", 0.05)
    with pytest.raises(FetchFailed) as caught:
        reading().draw(slow_pdf(), "slow.pdf", 1, "word")
    assert caught.value.kind == "timed_out"
