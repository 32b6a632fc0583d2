import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler

import pytest

from attribution.errors import FetchFailed
from attribution.fetching.fetcher import Fetcher
from attribution.review import cited_sources, crossref
from attribution.review.citations import check
from attribution.review.cited_sources import NOT_ASKED, read_works
from attribution.review.crossref import look_up
from attribution.review.support import CitationReport
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.identifiers import _RESOLVERS, Identifier
from attribution.text.references import AnswerSource
from attribution.types import Report
from tests.review.test_citations import claims_of
from tests.servers import Answer, http_server

DOI = Identifier(kind="DOI", value="10.1000/a(b)<c>", url="https://doi.org/10.1000/a")
RETRACTED = {"type": "retraction", "DOI": "10.1000/r", "updated": {"date-parts": [[2010, 2, 6]]}}
DOUBTED = {"type": "expression_of_concern", "updated": {"date-parts": [[None]]}}
JSON = {"Content-Type": "application/json"}


def record(**message: object) -> Answer:
    return (
        200,
        JSON,
        json.dumps({"status": "ok", "message": {"title": ["A  work"], **message}}).encode(),
    )


@pytest.mark.parametrize(
    ("reply", "notices", "problem"),
    [
        (record(**{"updated-by": [RETRACTED]}), ["retraction (2010): 10.1000/r"], ""),
        (
            record(**{"update-to": [RETRACTED]}),
            ["it is itself the notice of a retraction (2010): 10.1000/r"],
            "",
        ),
        (record(**{"updated-by": [DOUBTED]}), ["expression of concern"], ""),
        (record(), [], ""),
        ((404, {}, b"Resource not found."), [], "Crossref has no work with this DOI."),
    ],
)
def test_what_crossref_says_of_a_work(
    reply: Answer, notices: list[str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_server(lambda _: reply) as server:
        monkeypatch.setattr(crossref, "ADDRESS", server.url("/works/"))
        work = look_up("1", DOI, Settings(), lambda _: True)
        assert server.paths == ["/works/10.1000%2Fa%28b%29%3Cc%3E"]
    assert (list(work.notices), work.problem, work.title) == (
        notices,
        problem,
        "" if problem else "A work",
    )


@pytest.mark.parametrize(
    "reply", [(500, {}, b""), (200, JSON, b"<html>"), record(title="A", **{"updated-by": 7})]
)
def test_a_reply_that_is_no_record_is_a_failure(
    reply: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_server(lambda _: reply) as server:
        monkeypatch.setattr(crossref, "ADDRESS", server.url("/works/"))
        with pytest.raises(FetchFailed):
            look_up("1", DOI, Settings(), lambda _: True)
        with pytest.raises(FetchFailed, match="not on the public web"):
            look_up("1", DOI, Settings())


@pytest.mark.parametrize(
    ("first", "asked", "problems"),
    [
        ((503, {}, b""), 1, ["HTTP 503", "HTTP 503"]),
        ((400, {}, b""), 2, ["HTTP 400", ""]),
        ((200, JSON, b"<html>"), 2, ["not the record", ""]),
    ],
)
def test_one_bad_record_leaves_the_others_to_be_asked_for(
    first: Answer, asked: int, problems: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cited = [AnswerSource(key=key, text=f"doi:10.1000/{key}") for key in "ab"]
    with http_server(lambda request: first if request.path.endswith("a") else record()) as server:
        monkeypatch.setattr(crossref, "ADDRESS", server.url("/works/"))
        monkeypatch.setattr(cited_sources, "look_up", partial(look_up, allow=lambda _: True))
        works = read_works(cited, Settings(), threading.Event())
        assert len(server.paths) == asked
        stopped = threading.Event()
        stopped.set()
        unasked = read_works(cited, Settings(), stopped)
        assert len(server.paths) == asked
        few = read_works(cited, Settings(max_pages=1), threading.Event())
        assert (
            len(server.paths) == asked + 1
            and ("HTTP 503" if asked == 1 else "last 1 of 2 works") in few[1].problem
        )
    assert all(
        part in work.problem and bool(part) == bool(work.problem)
        for part, work in zip(problems, works, strict=True)
    )
    assert [work.problem for work in unasked] == [
        NOT_ASKED
    ] * 2  # not "Crossref lists no retraction"


def test_a_check_names_dead_links_and_retracted_works(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def respond(request: BaseHTTPRequestHandler) -> Answer:
        if request.path == "/doi/10.1000/a":  # the page that the DOI leads to
            return 200, {"Content-Type": "text/html"}, b"<p>At the farm, the milk is cold.</p>"
        return record(**{"updated-by": [RETRACTED]}) if "works" in request.path else (410, {}, b"")

    with http_server(respond) as server:
        answer = (
            "Tea is hot [1]. Milk is cold [2]. Ice is colder [3]. Snow is white [4].\n\n"
            f"Sources:\n[1] {server.url('/gone')}\n[2] Doe 2009, doi:10.1000/a\n[3] PMID: 77, doi:10.1000/b\n"
            "[4] ISBN 0-8044-2957-X"
        )
        run = Report(
            id="",
            created_at="",
            question="",
            answer=answer,
            settings={},
            versions={},
            claims=claims_of(answer),
        )
        monkeypatch.setattr(cited_sources, "Fetcher", partial(Fetcher, allow=lambda _: True))
        monkeypatch.setattr(crossref, "ADDRESS", server.url("/works/"))
        monkeypatch.setattr(cited_sources, "look_up", partial(look_up, allow=lambda _: True))
        monkeypatch.setitem(_RESOLVERS, "DOI", server.url("/doi/"))
        *_, result = check(run, settings, store)
        assert isinstance(result, CitationReport)
        assert [c.outcome for c in result.citations] == ["dead", "supported", "dead", "unreachable"]
        assert "removed" in result.citations[0].reason
        assert [(w.source, w.identifier.kind, w.notices) for w in result.works] == [
            ("2", "DOI", ("retraction (2010): 10.1000/r",)),
            ("3", "DOI", ("retraction (2010): 10.1000/r",)),
            ("3", "PubMed", ()),
            ("4", "ISBN", ()),
        ]
        monkeypatch.setattr(cited_sources, "look_up", look_up)
        asked = len(server.paths)
        *_, result = check(run, settings, store)
        assert (
            isinstance(result, CitationReport) and len(server.paths) == asked + 2
        )  # the dead links alone
        assert "could not be asked: 127.0.0.1 is not on the public web" in result.works[1].problem
