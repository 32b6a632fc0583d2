import pytest

from attribution.evidence.sources import read_document
from attribution.fetching.page import Extracted, make_page
from attribution.library.folder import FolderSearcher
from attribution.review.citation_marks import find
from attribution.review.citations import known_page
from attribution.settings import Settings
from attribution.text.marks import AnswerSource
from attribution.types import Document, Page
from tests.make import reading
from tests.servers import pdf_bytes


@pytest.mark.parametrize(
    "title", ["about:blank", "Untitled", "Microsoft Word - q3.docx", "An annual review", ""]
)
def test_a_document_is_known_by_its_file_name_whatever_its_title_is(title: str) -> None:
    pdf = read_document(Document("market.pdf", pdf_bytes("Sales rose.", title=title)), reading())
    other = read_document(Document("supermarket.pdf", pdf_bytes("Shops.", title=title)), reading())
    cited = find("Sales rose [2].\n\nSources:\n[1] other.pdf\n[2] market.pdf, p. 3\n")
    assert [known_page(source, [other, pdf]) for source in cited.sources] == [None, pdf]
    assert pdf.title == (title if title == "An annual review" else "market.pdf")


@pytest.mark.parametrize(
    "url", ["library:reports/market.pdf", "collection:reports/2026/market.pdf"]
)
def test_a_file_of_a_folder_or_collection_is_known_by_its_name(url: str) -> None:
    page = make_page(url, "document", Extracted("An annual review", "Sales rose."))
    assert known_page(AnswerSource(key="1", text="“Market.PDF” (2026)"), [page]) == page
    assert known_page(AnswerSource(key="1", text="newmarket.pdf"), [page]) is None
    assert known_page(AnswerSource(key="1", text="View"), [page]) is None


@pytest.fixture(scope="module")
def tower() -> Page:
    return next(p for p in FolderSearcher(Settings()).pages if p.url == "library:eiffel-tower.md")


@pytest.mark.parametrize(
    "entry",
    [
        "https://en.wikipedia.org/wiki/Eiffel_Tower",
        "Eiffel Tower, Wikipedia",
        "“Eiffel Tower”. Encyclopædia Britannica",
        "The Eiffel Tower in pictures",
    ],
)
def test_an_article_of_the_library_is_no_page_of_somebody_else(entry: str, tower: Page) -> None:
    (source,) = find(f"It is tall [1].\n\nSources:\n[1] {entry}\n").sources
    assert known_page(source, [tower]) is None
