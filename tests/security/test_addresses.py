"""Pages are fetched at public addresses alone, of IPv6 too: a real server at ::1 stands for them."""

import pytest

from tests.fetching.test_fetcher import HTML, PAGE, PATIENT, always, failure, fetch, names
from tests.servers import http_server

SIX, FOUR = "::1", "127.0.0.1"


def test_a_page_is_fetched_over_ipv6_at_the_address_that_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names(monkeypatch, six_example=[SIX])
    with http_server(always(200, HTML, PAGE), SIX) as server:
        by_name = fetch(server.url("/", "six.example"), PATIENT, lambda address: address == SIX)
        by_number = fetch(server.url("/"), PATIENT, lambda address: address == SIX)
    assert by_name.text == by_number.text == "The Nile flows north."
    hosts = [headers["Host"] for _, _, headers, _ in server.requests]
    assert hosts == [f"six.example:{server.port}", f"[::1]:{server.port}"]


@pytest.mark.parametrize("addresses", [[FOUR, SIX], [SIX, FOUR]])
@pytest.mark.parametrize("public", [FOUR, SIX])
def test_a_host_with_one_forbidden_address_of_either_kind_is_not_asked(
    addresses: list[str], public: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, both_example=addresses)
    with http_server(always(200, HTML, PAGE), public) as server:
        url = server.url("/", "both.example")
        assert failure(url, PATIENT, lambda address: address == public).kind == "blocked_address"
    assert server.requests == []


@pytest.mark.parametrize("answering", [FOUR, SIX])
def test_the_other_kind_of_address_is_tried_where_one_does_not_answer(
    answering: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [address for address in (FOUR, SIX) if address != answering]
    names(monkeypatch, both_example=[*others, answering])
    with http_server(always(200, HTML, PAGE), answering) as server:
        page = fetch(server.url("/", "both.example"), PATIENT, lambda address: True)
    assert page.text == "The Nile flows north."


def test_a_redirect_to_an_ipv6_address_inside_is_not_followed() -> None:
    with http_server(always(200, HTML, PAGE), SIX) as inside:
        moved = always(302, {"Location": inside.url("/")}, b"")
        with http_server(moved) as outside:
            error = failure(outside.url("/"), PATIENT, lambda address: address == FOUR)
    assert error.kind == "blocked_address"
    assert inside.requests == []
