import pytest

from attribution.review.citations import resolver_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Smith (2020), doi:10.1000/xyz-1.", "https://doi.org/10.1000/xyz-1"),
        (
            "(https://doi.org/10.1016/S0140-6736(97)11096-0)",
            "https://doi.org/10.1016/S0140-6736%2897%2911096-0",
        ),
        ("https://x.org/doi/full/10.1000/abc.pdf?download=1#p2", "https://doi.org/10.1000/abc"),
        ("[10.1000/abc](https://doi.org/10.1000/abc)", "https://doi.org/10.1000/abc"),
        (r"doi:10.1000/ab\_c\*d", "https://doi.org/10.1000/ab_c%2Ad"),
        ("arXiv:1706.03762v5", "https://arxiv.org/abs/1706.03762"),
        ("https://arxiv.org/pdf/hep-th/9901001", "https://arxiv.org/abs/hep-th/9901001"),
        ("PMID: 9500320.", "https://pubmed.ncbi.nlm.nih.gov/9500320"),
        ("It fell by 10.5000 / 3 in 2020; version 1.10.1000/2; PMID 123456789", ""),
    ],
)
def test_a_number_of_a_work_leads_to_its_address(text: str, address: str) -> None:
    assert resolver_address(text) == address
