"""The highlighted answer and the evidence of each claim under axe."""

from __future__ import annotations

import pytest

from tests.pages.browser.visits import MARKS, Page, analyse, claims, write

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
pytestmark = MARKS
ANSWER = """# Hitchcock

Alfred Hitchcock directed ~~Psycho~~ in 1960.
The film [Psycho](https://en.wikipedia.org/wiki/Psycho_(1960_film)) is his.
He was born in London in 1899.

| | Year |
|---|---|
| Psycho | 1960 |

- **Vertigo**: It was released in 1958, starring [James Stewart](https://example.org) and Kim Novak.
"""


def test_no_rule_of_axe_is_broken(page: Page) -> None:
    write(page, ANSWER, "Who was Alfred Hitchcock?")
    analyse(page)
    assert page.locator(".answer thead th").count() == 1  # an empty heading is none
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(500)  # colours change slowly
        kinds = set()  # the word of a badge, and whether enrichment has taken words from the claim
        for number in range(claims(page).count()):
            claims(page).nth(number).click()
            badge = page.locator(".panel-body > .head .badge").first.inner_text()
            kind = (badge.rstrip("0123456789.\n"), page.locator(".enriched del").count() > 0)
            if kind not in kinds:
                kinds.add(kind)
                results = axe.Axe().run(page, options={"resultTypes": ["violations"]})
                assert results.violations_count == 0, results.generate_report()
        assert any(struck for _, struck in kinds)
