import re

from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.reports import Exported, export
from tests import make
from tests.make import claim
from tests.pages.hostile import ADDRESSES, TEXTS
from tests.reports.runs import QUOTE, edited, hostile, run
from tests.reports.test_html import _Tags

OURS = set(
    "html head meta title style body main h1 h2 h3 h4 h5 h6 p div section article span a sup "
    "strong em del code pre ol ul li table thead tbody tr th td blockquote hr br details summary dl dt dd progress".split()
)


def test_each_claim_leads_to_its_evidence_and_back() -> None:
    made = export("html", Exported(edited(run()), "A title", "A note")).decode()
    seen = _Tags(made)
    ids = {value for name, value in seen.attributes if name == "id"}
    assert ids == {"claim-1", "claim-2", "mark-1", "mark-2"}
    links = [value or "" for name, value in seen.attributes if name == "href"]
    # the second claim has no place in the answer to lead back to
    assert sorted(link for link in links if link[0] == "#") == ["#claim-1", "#claim-2", "#mark-1"]
    assert "https://example.org/tower#:~:text=The%20tower%20was%20finished%20in%201889." in links
    for words in ("A title", "A note", "Question: When was", QUOTE, "edited by the analyst"):
        assert words in seen.text


def test_errors_come_first() -> None:
    made = make.judged((claim("None."), "no_relation"), (claim("Bad."), "contradicted"))
    page = export("html", Exported(made)).decode()
    assert page.index('id="claim-2"') < page.index('id="claim-1"')
    assert "1 contradicted, 1 nothing related" in page


@given(st.text(max_size=60) | st.sampled_from(TEXTS), st.sampled_from([a for a in ADDRESSES if a]))
@settings(max_examples=40)
def test_foreign_text_stays_text(text: str, address: str) -> None:
    seen = _Tags(export("html", hostile(text, address)).decode())
    assert seen.tags <= OURS
    assert not any(name.startswith("on") or name == "src" for name, _ in seen.attributes)
    links = [value for name, value in seen.attributes if name == "href"]
    assert all(re.match(r"https?://|#(claim|mark)-\d+$", link or "") for link in links)
