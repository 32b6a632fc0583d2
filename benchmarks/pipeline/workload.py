"""Claims and their pages, made by script: the same for the same number of claims.

Three claims in a row are about one subject, and the three pages that a search finds for each are
three of the subject's five, so that claims share pages as those of an answer do. A page has 8,000
to 40,000 characters: about one sentence in eight on its subject, the others from the articles of
the library. Six claims of ten are stated by their pages in other words, two with another figure,
two not at all.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from attribution.settings import ROOT
from attribution.text.sentences import sentences

PAGES_PER_CLAIM, PAGES_PER_SUBJECT, CLAIMS_PER_SUBJECT = 3, 5, 3
ON_SUBJECT = 0.12  # of a page's sentences
SMALLEST, LARGEST = 8_000, 40_000  # characters of a page's text
HOSTS_PER_SUBJECT = 3
_FIRST = (
    "Al Bre Cor Dun El Far Gal Hol Ing Jar Kel Lor Mar Nor Or Pel Quin Ros Sel Tor Ul Ver Wes "
    "Yar Zel"
).split()
_MIDDLE = "a en i o u ra li mo ne ta vi".split()
_LAST = (
    "burg dale field ford gate ham holm mark mere mouth stad stead thorpe ton vik ville wick"
).split()
_PEOPLE = (
    "Adler Brandt Cole Duarte Ek Ferrer Gray Hansen Ibsen Jansen Keller Lund Moreau Novak "
    "Olsen Petit Rossi"
).split()
_THINGS = (
    "bridge library harbour theatre observatory hospital market railway museum canal "
    "cathedral mill school"
).split()
_TRADES = "wool salt timber glass copper paper amber wine grain silk cheese iron".split()

# (what the claim says, what a page says of the same)
FACTS = (
    (
        "The {thing} of {s} was opened in {year}.",
        "In {year}, after long delays, {s} opened its {thing} to the public.",
    ),
    (
        "{person} designed the {thing} of {s}.",
        "The plans for the {thing} in {s} were drawn by {person}, then unknown.",
    ),
    (
        "{s} had {number} inhabitants in {year}.",
        "A census of {year} counted {number} people who lived in {s}.",
    ),
    (
        "The {thing} of {s} cost {number} crowns.",
        "In the end {s} paid {number} crowns for building the {thing}.",
    ),
    (
        "{s} exported {number} tons of {trade} in {year}.",
        "In {year} some {number} tons of {trade} left {s} by sea.",
    ),
    (
        "A fire destroyed the {thing} of {s} in {year}.",
        "In the summer of {year} the {thing} of {s} burned down.",
    ),
    (
        "{person} was mayor of {s} for {few} years.",
        "For {few} years the mayor of {s} was {person}, a merchant.",
    ),
    (
        "{s} became a free city in {year}.",
        "The charter of {year} made {s} a free city with courts of its own.",
    ),
)
FILLING = (
    (
        "Visitors who come to {s} for the first time are often surprised by how quiet the streets "
        "around the {thing} are."
    ),
    (
        "According to {person}, the trade in {trade} was never as important to {s} as later "
        "chronicles made it appear."
    ),
    (
        "The old road from {s} to {t} followed the river and was closed whenever the water rose in "
        "spring."
    ),
    (
        "In {year} the guild of {trade} merchants in {t} complained to the court about the tolls "
        "that were taken at {s}."
    ),
    (
        "Little is known about the early life of {person}, whose letters were lost when the "
        "archive of {t} was moved."
    ),
    (
        "Restoration began in {year} and was led by {person}, who replaced most of the roof and "
        "{few} of the windows."
    ),
    (
        "The {thing} is open every day except Monday; tickets for groups of more than {few} can be "
        "booked in advance."
    ),
    (
        "Between {year} and the end of the war the population fell by about {number} because of "
        "the failed harvests."
    ),
    (
        "A second {thing}, planned by {person} for the market square of {t}, was never built for "
        "lack of money."
    ),
    (
        "Every autumn a fair is held at which {trade}, cattle and books from the whole region are "
        "sold."
    ),
    (
        "The collection holds {number} drawings, maps and letters, of which only {few} are on "
        "display at any time."
    ),
    (
        "Historians disagree about whether {person} ever visited {s}, or only knew the town from "
        "the reports of others."
    ),
    "The climate is mild, with {few} weeks of frost in an average year and rain in every month.",
    (
        "When the company moved its offices to {t}, {number} families left, and many houses stood "
        "empty until {year}."
    ),
)


@dataclass(frozen=True)
class Site:
    """A page of the workload, as a server sends it."""

    host: str
    path: str
    title: str
    paragraphs: tuple[str, ...]

    def html(self) -> bytes:
        menu = "".join(
            f"<li><a href='/{word}'>{word.title()}</a></li>"
            for word in ("home", "news", "about", "search")
        )
        text = "".join(f"<p>{p}</p>" for p in self.paragraphs)
        head = f"<!doctype html><html lang=en><head><title>{self.title}</title></head>"
        article = f"<article><h1>{self.title}</h1>{text}</article>"
        footer = "<footer>All rights reserved</footer>"
        body = f"<body><nav><ul>{menu}</ul></nav>{article}{footer}</body></html>"
        return (head + body).encode()


@dataclass(frozen=True)
class Workload:
    claims: tuple[str, ...]
    pages: tuple[Site, ...]
    found: tuple[tuple[int, ...], ...]  # of each claim, the pages that a search finds, best first

    @property
    def answer(self) -> str:
        return " ".join(self.claims)


@cache
def library() -> tuple[str, ...]:
    """The sentences of the library's articles."""
    found = []
    for path in sorted((ROOT / "examples" / "library").glob("*.md")):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if len(line) > 200]
        found += [
            line[start:end] for line in lines for start, end in sentences(line) if end - start > 40
        ]
    return tuple(found)


def make(claims: int, seed: int = 17) -> Workload:
    draw = random.Random(f"{seed}/{claims}")
    made: list[str] = []
    pages: list[Site] = []
    found: list[tuple[int, ...]] = []
    for subject in range(-(-claims // CLAIMS_PER_SUBJECT)):
        name, other = _place(draw), _place(draw)
        facts = draw.sample(FACTS, min(CLAIMS_PER_SUBJECT, claims - len(made)))
        stated: list[list[str]] = [[] for _ in range(PAGES_PER_SUBJECT)]
        for said, told in facts:
            values = _values(draw, name, other)
            own = draw.sample(range(PAGES_PER_SUBJECT), PAGES_PER_CLAIM)
            lot = draw.random()
            if lot < 0.8:
                shown = (
                    values
                    if lot < 0.6
                    else {**_values(draw, name, other), "thing": values["thing"]}
                )
                for page in own[:2]:
                    stated[page].append(told.format(**shown))
            made.append(said.format(**values))
            found.append(tuple(len(pages) + page for page in own))
        for number, facts_of_page in enumerate(stated):
            pages.append(_page(draw, name, other, facts_of_page, subject, number))
    return Workload(tuple(made), tuple(pages), tuple(found))


def _page(
    draw: random.Random, name: str, other: str, facts: list[str], subject: int, number: int
) -> Site:
    length = draw.randint(SMALLEST, LARGEST)
    told = list(facts)
    while sum(map(len, told)) < length:
        on_subject = draw.random() < ON_SUBJECT
        told.append(
            draw.choice(FILLING).format(**_values(draw, name, other))
            if on_subject
            else draw.choice(library())
        )
    draw.shuffle(told)
    paragraphs, start = [], 0
    while start < len(told):
        end = start + draw.randint(2, 6)
        paragraphs.append(" ".join(told[start:end]))
        start = end
    host = f"site{subject}-{number % HOSTS_PER_SUBJECT}.example"
    return Site(
        host,
        f"/{name.lower()}/{number}",
        f"{name}: history and sights, part {number + 1}",
        tuple(paragraphs),
    )


def _place(draw: random.Random) -> str:
    return draw.choice(_FIRST) + draw.choice(_MIDDLE) + draw.choice(_LAST)


def _values(draw: random.Random, name: str, other: str) -> dict[str, str]:
    return {
        "s": name,
        "t": other,
        "person": f"{draw.choice(_FIRST)}{draw.choice('aeio')} {draw.choice(_PEOPLE)}",
        "thing": draw.choice(_THINGS),
        "trade": draw.choice(_TRADES),
        "year": str(draw.randint(1402, 1987)),
        "number": f"{draw.randint(1100, 98000):,}",
        "few": str(draw.randint(3, 38)),
    }
