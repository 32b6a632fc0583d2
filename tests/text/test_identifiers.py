import pytest

from attribution.text.identifiers import identifiers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Smith (2020), doi:10.1000/xyz-1.", ["DOI 10.1000/xyz-1 https://doi.org/10.1000/xyz-1"]),
        (
            "(https://doi.org/10.1016/S0140-6736(97)11096-0)",
            ["DOI 10.1016/S0140-6736(97)11096-0 https://doi.org/10.1016/S0140-6736%2897%2911096-0"],
        ),
        (
            "https://x.org/doi/full/10.1000/abc.pdf?download=1#p2",
            ["DOI 10.1000/abc https://doi.org/10.1000/abc"],
        ),
        (
            "doi 10.1000/A and https://doi.org/10.1000/a",
            ["DOI 10.1000/A https://doi.org/10.1000/A"],
        ),
        (
            "[10.1000/abc](https://doi.org/10.1000/abc)",
            ["DOI 10.1000/abc https://doi.org/10.1000/abc"],
        ),
        (r"doi:10.1000/ab\_c\*d", ["DOI 10.1000/ab_c*d https://doi.org/10.1000/ab_c%2Ad"]),
        ("arXiv:1706.03762v5", ["arXiv 1706.03762 https://arxiv.org/abs/1706.03762"]),
        (
            "https://arxiv.org/pdf/hep-th/9901001",
            ["arXiv hep-th/9901001 https://arxiv.org/abs/hep-th/9901001"],
        ),
        ("PMID: 9500320.", ["PubMed 9500320 https://pubmed.ncbi.nlm.nih.gov/9500320"]),
        (
            "ISBN 978-0-306-40615-7, p. 4",
            ["ISBN 9780306406157 https://openlibrary.org/isbn/9780306406157"],
        ),
        ("ISBN-10: 0-8044-2957-X", ["ISBN 080442957X https://openlibrary.org/isbn/080442957X"]),
        ("ISBN 978-0-306-40615-8", ["ISBN 9780306406158 "]),
        ("It fell by 10.5000 / 3 in 2020; version 1.10.1000/2; PMID 123456789", []),
    ],
)
def test_identifiers_and_their_resolvers(text: str, found: list[str]) -> None:
    assert [f"{i.kind} {i.value} {i.url}" for i in identifiers(text)] == found
