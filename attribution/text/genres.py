"""The genre of a page: its kind of publisher, as far as markup, address, title and shape show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import SplitResult, urlsplit

from attribution.types import Genre

PROSE = 1_500  # characters of a text that may be an article, even at the address of a front page
_LINES = 200  # at least so many characters in the average line of an article

# By schema.org type; the first of these that a page has.
_TYPES: dict[str, Genre] = {
    "ClaimReview": "fact check", "DiscussionForumPosting": "forum", "QAPage": "forum",
    "OpinionNewsArticle": "opinion", "SocialMediaPosting": "social", "ScholarlyArticle": "paper",
    "MedicalScholarlyArticle": "paper", "SearchResultsPage": "search page", "NewsArticle": "news",
    "ReportageNewsArticle": "news", "AnalysisNewsArticle": "news", "BackgroundNewsArticle": "news",
    "Product": "shop",
}  # fmt: skip
# By site, with subdomains; of each entry's hosts and beginnings of paths.
_SITES: dict[Genre, str] = {
    "answer": "chatgpt.com chat.openai.com perplexity.ai claude.ai gemini.google.com poe.com character.ai grok.com "
    "copilot.microsoft.com chat.deepseek.com chat.mistral.ai",
    "fact check": "snopes.com politifact.com factcheck.org fullfact.org leadstories.com factcheck.afp.com "
    "checkyourfact.com truthorfiction.com hoax-slayer.com hoax-slayer.net boomlive.in altnews.in africacheck.org "
    "factcheckni.org polygraph.info sciencefeedback.co healthfeedback.org climatefeedback.org vishvasnews.com "
    "newschecker.in factcrescendo.com logicallyfacts.com rumorscanner.com maldita.es newtral.es mimikama.org "
    "pesacheck.org dubawa.org factly.in thelogicalindian.com/fact-check misbar.com verafiles.org tsek.ph "
    "washingtonpost.com/news/fact-checker faktencheck.dpa.com snopes.org",
    "social": "facebook.com twitter.com x.com instagram.com tiktok.com youtube.com youtu.be linkedin.com pinterest.com "
    "tumblr.com vk.com t.me threads.net bsky.app mastodon.social truthsocial.com gab.com rumble.com bitchute.com "
    "weibo.com snapchat.com twitch.tv flickr.com vimeo.com dailymotion.com",
    "forum": "reddit.com quora.com stackexchange.com stackoverflow.com answers.yahoo.com news.ycombinator.com "
    "metafilter.com 4chan.org answers.com steamcommunity.com abovetopsecret.com godlikeproductions.com disqus.com "
    "city-data.com/forum democraticunderground.com freerepublic.com groups.google.com answers.microsoft.com zhihu.com",
    "opinion": "medium.com substack.com blogspot.com wordpress.com livejournal.com typepad.com change.org hubpages.com "
    "thoughtcatalog.com patheos.com dailykos.com townhall.com/columnists",
    "transcript": "rev.com presidency.ucsb.edu transcripts.cnn.com c-span.org millercenter.org/the-presidency",
    "shop": "amazon.com amazon.co.uk amazon.de ebay.com etsy.com alibaba.com aliexpress.com walmart.com target.com "
    "bestbuy.com shopify.com",
    "reference": "wikipedia.org wikidata.org wiktionary.org wikiwand.com britannica.com merriam-webster.com "
    "dictionary.com encyclopedia.com plato.stanford.edu scholarpedia.org dbpedia.org oed.com oxfordreference.com "
    "cia.gov/the-world-factbook medlineplus.gov newworldencyclopedia.org dictionary.cambridge.org",
    "paper": "doi.org arxiv.org ncbi.nlm.nih.gov pubmed.ncbi.nlm.nih.gov nature.com/articles sciencedirect.com "
    "link.springer.com onlinelibrary.wiley.com jstor.org plos.org biorxiv.org medrxiv.org thelancet.com nejm.org "
    "bmj.com frontiersin.org mdpi.com dl.acm.org ieeexplore.ieee.org semanticscholar.org aclanthology.org cell.com "
    "pnas.org science.org/doi jamanetwork.com academic.oup.com tandfonline.com cambridge.org/core sagepub.com "
    "europepmc.org ssrn.com openreview.net researchgate.net/publication",
    "official": "europa.eu who.int un.org nato.int oecd.org imf.org worldbank.org gc.ca admin.ch bundestag.de "
    "bundesregierung.de parliament.uk nhs.uk canada.ca",
    "news": "bbc.com bbc.co.uk cnn.com npr.org pbs.org reuters.com apnews.com afp.com nytimes.com washingtonpost.com "
    "wsj.com ft.com economist.com bloomberg.com theguardian.com telegraph.co.uk independent.co.uk thetimes.co.uk "
    "cbc.ca abc.net.au abcnews.go.com nbcnews.com cbsnews.com foxnews.com msnbc.com politico.com politico.eu "
    "thehill.com axios.com vox.com time.com newsweek.com theatlantic.com newyorker.com usatoday.com latimes.com "
    "aljazeera.com dw.com france24.com lemonde.fr lefigaro.fr spiegel.de zeit.de faz.net sueddeutsche.de tagesschau.de "
    "elpais.com elmundo.es corriere.it repubblica.it nzz.ch derstandard.at scmp.com ndtv.com thehindu.com "
    "forbes.com businessinsider.com cnbc.com sky.com itv.com euronews.com propublica.org theconversation.com",
}  # fmt: skip
_HOSTS: tuple[tuple[str, str, Genre], ...] = tuple(
    (host, path, genre)
    for genre, sites in _SITES.items()
    for host, _, path in (s.partition("/") for s in sites.split())
)
# By address and title, before the sites: a newspaper's opinion section is no news.
_ADDRESS: tuple[tuple[re.Pattern[str], Genre], ...] = (
    (re.compile(r"[/.-]fact[-_]?check|faktencheck|/webqoof", re.I), "fact check"),
    (re.compile(r"/(?:opinions?|op-?eds?|editorials?|commentisfree|letters?|columnists?)(?:/|$)"
                r"|//opinions?\.", re.I), "opinion"),
    (re.compile(r"/transcripts?(?:/|$|-)|[-/]transcript(?:/|$|\.)|/speeches(?:-remarks)?/", re.I), "transcript"),
    (re.compile(r"//(?:forums?|boards?|community|discuss(?:ions?)?)\.|/(?:forums|threads?|viewtopic|showthread|"
                r"discussions?|topic/\d+)(?:[/.?-]|$)", re.I), "forum"),
    (re.compile(r"/(?:dp|shop|store|cart|listing)/", re.I), "shop"),
    (re.compile(r"/doi/|/abs/10\.", re.I), "paper"),
    (re.compile(r"^[a-z]+://[^/]*\.(?:gov|mil|int|gouv|gob|govt|gc)(?:\.[a-z]{2})?(?::\d+)?(?:/|$)", re.I), "official"),
)  # fmt: skip
_TITLE: tuple[tuple[re.Pattern[str], Genre], ...] = (
    (re.compile(r"\bfact[- ]?check(?:er|ing)?\b", re.I), "fact check"),
    (re.compile(r"^\W*(?:opinion|op-?ed|editorial|commentary|letters?(?: to the editor)?)\s*[:|–—-]"
                r"|[:|–—-]\s*(?:opinion|op-?ed|editorial|letters?)\W*$|\bletters? to the editor\b", re.I), "opinion"),
    (re.compile(r"\btranscript\b|^\W*remarks by\b|\bfull text of\b.*\b(?:speech|remarks)\b", re.I), "transcript"),
    (re.compile(r"(?:^|\W)r/\w+|\| ?(?:forum|reddit|quora)\b|\bforums?\W*$", re.I), "forum"),
)  # fmt: skip
_SEARCH = re.compile(r"/(?:search|suche|recherche|serp)(?:[/.?]|$)|[?&](?:q|query|search|search_query)=", re.I)
_FRONT = re.compile(r"/?(?:index\.\w+|home|[a-z]{2}(?:-[a-z]{2})?)?/?", re.I)
_LISTING = re.compile(r"/(?:tags?|category|categories|authors?)/[^/]*/?", re.I)
_NEWS_NAME = re.compile(r"(?:news|times|post|herald|tribune|gazette|chronicle|courier|observer|zeitung)\d*\.")
_SPEAKER = re.compile(r"^[A-Z][A-Z.'’ -]{2,40}(?:, [^:\n]{2,60})?:\s", re.M)
_LETTER = re.compile(r"^\s*(?:to the editor|dear (?:editor|sir))\b", re.I | re.M)
_POSTS = re.compile(r"^\W*(?:posted by\b|quote:|re: |\d+ (?:replies|upvotes|points)\b|joined: )", re.I | re.M)


def genre_of(url: str, title: str, text: str, types: Iterable[str] = ()) -> Genre:
    """Return the genre of a page; `types` are the schema.org types in its markup."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an unclosed [
        parts = SplitResult("", "", "", "", "")
    web = parts.scheme in ("http", "https") and bool(parts.hostname)
    found = set(types)
    if "ClaimReview" in found:
        return "fact check"
    if web and (shape := _list_of_pages(parts, url, text)):
        return shape
    given = [g for pattern, g in _ADDRESS if pattern.search(url)] if web else []
    given += [g for pattern, g in _TITLE if pattern.search(title)]
    at = _by_site((parts.hostname or "").lower(), parts.path) if web else "unknown"
    marked: Genre = next((genre for name, genre in _TYPES.items() if name in found), "unknown")
    strong: Sequence[Genre] = ("answer", "fact check", "social", "forum", "transcript", "opinion", "paper", "shop")
    for genre in strong:
        if genre == at or genre in given or (genre == marked and genre != "shop"):
            return genre
    if _LETTER.search(text[:PROSE]):
        return "opinion"
    if len(_SPEAKER.findall(text[: 4 * PROSE])) >= 4:
        return "transcript"
    if len(_POSTS.findall(text[: 4 * PROSE])) >= 3:
        return "forum"
    if at != "unknown":
        return at
    if given:
        return given[0]
    if marked != "unknown":
        return marked
    return "news" if web and _NEWS_NAME.search((parts.hostname or "").lower()) else "unknown"


def _list_of_pages(parts: SplitResult, url: str, text: str) -> Genre | None:
    """Return whether an address is one of search results or of a front page; long prose is an article all the same."""
    if _SEARCH.search(url):
        return "search page"
    if parts.query or not (_FRONT.fullmatch(parts.path) or _LISTING.fullmatch(parts.path)):
        return None
    lines = [line for line in text.split("\n") if line.strip()]
    article = len(text) >= PROSE and len(text) >= _LINES * len(lines)
    return None if article else "front page"


def _by_site(host: str, path: str) -> Genre:
    for site, folder, genre in _HOSTS:
        if (host == site or host.endswith(f".{site}")) and path.startswith(f"/{folder}"):
            return genre
    return "unknown"
