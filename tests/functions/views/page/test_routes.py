# SPDX-License-Identifier: Apache-2.0
"""Every path is answered with a page that cannot run scripts, even for odd names."""

from __future__ import annotations

import base64
import hashlib
import re
from urllib.parse import parse_qsl, quote, unquote, urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.views.app import answer as answer_all
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page import link, parse_link
from tests.fakes import MemoryStore
from tests.functions.views.page.reading import read
from tests.functions.views.page.rows import NOON, a_group
from tests.functions.views.page.shop import NAMES, NASTY, opened, put, text_of

PATHS = ["/", "/cluster/shop/group/billing", "/cluster/shop/topic/orders", "/nothing/here"]


@pytest.fixture(name="store", scope="module")
def _store() -> MemoryStore:
    return put(MemoryStore())


@pytest.mark.parametrize("path", PATHS)
def test_a_page_allows_its_own_style_and_script_alone_and_is_cached_nowhere(
    store: MemoryStore, path: str
) -> None:
    given = opened(store, path)
    policy = given.headers["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        for inner in re.findall(rf"<{kind}>(.*?)</{kind}>", text_of(given), re.DOTALL):
            digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy
    assert " style=" not in text_of(given)
    assert given.headers["X-Content-Type-Options"] == "nosniff"
    assert given.headers["Referrer-Policy"] == "no-referrer"
    assert given.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_one_heading_and_its_landmarks(store: MemoryStore, path: str) -> None:
    tags = read(opened(store, path)).tags

    assert [tags.count(tag) for tag in ("h1", "main", "header")] == [1, 1, 1]
    assert tags.count("caption") == tags.count("table")


@pytest.mark.parametrize("name", ["billing", *NAMES])
def test_a_name_of_any_kind_stays_text_and_leads_to_its_pages_and_its_json(
    store: MemoryStore, name: str
) -> None:
    for kind in ("group", "topic") if name in NAMES else ("group",):
        path, _, query = link("shop", kind, name).partition("?")

        given = opened(store, path, query)

        assert given.status == 200
        assert read(given).tags.count("script") == 1
        links = read(given).links
        found = [each for each in links if each.startswith("/v3/")]
        assert "/metrics" in links
        assert found
        snapshots = Snapshots(store, lambda: NOON / 1000)
        for each in found:
            assert answer_all(Request.of("GET", each, "", {}), snapshots, NOON).status == 200


def test_markup_in_a_name_is_escaped_in_the_table_and_in_its_link(store: MemoryStore) -> None:
    page = read(opened(store))

    assert page.tags.count("script") == 1
    assert NASTY in page.column()
    assert "/cluster/shop/group/%3Cscript%3Ealert%281%29%3C%2Fscript%3E" in page.links
    assert "no\u202e" not in text_of(opened(put(MemoryStore(), groups=[a_group("no\u202e\n")])))


@pytest.mark.parametrize("kind", ["group", "topic"])
def test_a_name_that_there_is_not_is_not_found_and_escaped(store: MemoryStore, kind: str) -> None:
    given = opened(store, f"/cluster/shop/{kind}/{quote(NASTY + 'x', safe='')}")

    assert given.status == 404
    assert f"The {kind} {NASTY}x is not" in read(given).texts["main"]
    assert "script" not in read(given).tags


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [("https://wiki.example.com/r?a=1&b=<2>", True), ("javascript:alert(1)", False), (None, False)],
)
def test_a_runbook_is_a_link_unless_it_is_a_script(url: str | None, is_shown: bool) -> None:
    store = put(MemoryStore(), groups=[a_group("g", runbook_url=url)])
    page = text_of(opened(store, "/cluster/shop/group/g"))

    assert ('<a href="https://wiki.example.com/r?a=1&amp;b=&lt;2&gt;"' in page) is is_shown
    assert "javascript:alert" not in page


@pytest.mark.parametrize(
    "path",
    [
        *("/nothing", "/nothing/", "/cluster", "/cluster/", "/cluster/nope/group/billing", "//"),
        *("/cluster/..%2F..%2Fsecrets/group/x", "/../../etc/passwd", "/%00", "/%ED%A0%80"),
        # A slash of a name, or of no page, is not redirected.
        *("/cluster/shop/group/", "/cluster/shop/group//", "/cluster/shop/group/x%2F"),
        *("//evil.example/", "//cluster/shop/", "/\\evil.example/"),
    ],
)
def test_what_there_is_not_is_not_found(store: MemoryStore, path: str) -> None:
    assert opened(store, path).status == 404


@pytest.mark.parametrize(
    "query",
    [
        *("page=-5", "sort=xyz", "status=%00", "owner=%F0%9F%92%A9", "=&&&=", "q=%ED%A0%80"),
        *("q=" + "a%25" * 2_500, "page=" + "9" * 7_000, "x=" + "y" * 1_000_000),
    ],
    ids=lambda query: query[:9],
)
def test_absurd_parameters_have_a_sober_answer(store: MemoryStore, query: str) -> None:
    for path in PATHS[:3]:
        given = opened(store, path, query)

        assert given.status == 200
        assert len(given.body) < 60_000


@pytest.mark.parametrize("dataset", [contract.GROUP_PARTITIONS, contract.GROUPS])
def test_what_cannot_be_read_is_out_of_service_and_no_empty_table(dataset: str) -> None:
    store = put(MemoryStore())
    store.objects[object_key(dataset, "shop", NOON)] = b"torn"

    assert opened(store, PATHS[1]).status == 503


def test_refreshing_can_be_stopped_and_stays_so(store: MemoryStore) -> None:
    on, off = text_of(opened(store)), text_of(opened(store, "/", "refresh=off"))

    assert '<noscript><meta http-equiv="refresh" content="60"></noscript>' in on
    assert "http-equiv" not in off
    assert "data-refresh" not in off
    assert "?sort=lag&amp;refresh=off" in off


HALF = "%EF%BF%BD%EF%BF%BD%EF%BF%BD"


@pytest.mark.parametrize(
    ("path", "query", "status", "location"),
    [
        ("/cluster/shop", "", 302, "/?cluster=shop"),
        ("/cluster/shop/", "", 302, "/?cluster=shop"),
        ("/cluster/shop", "sort=-lag&cluster=other", 302, "/?sort=-lag&cluster=shop"),
        ("/cluster/a%22%0d%0ab", "q=%ED%A0%80", 302, f"/?q={HALF}&cluster=a%22%0D%0Ab"),
        ("/cluster/shop/group/billing/", "", 301, "/cluster/shop/group/billing"),
        ("/cluster/shop/topic/a%2Fb//", "sort=-lag", 301, "/cluster/shop/topic/a%2Fb?sort=-lag"),
    ],
)
def test_a_path_that_is_cut_or_has_a_slash_behind_it_leads_on(
    store: MemoryStore, path: str, query: str, status: int, location: str
) -> None:
    given = opened(store, path, query)

    assert (given.status, given.headers["Location"]) == (status, location)


@pytest.mark.parametrize("name", ["", "billing/", "/"])
def test_the_address_of_each_name_is_its_own(name: str) -> None:
    store = put(MemoryStore(), groups=[a_group(name), a_group("billing")])

    given = opened(store, *link("shop", "group", name).split("?"))

    assert given.status == 200
    assert (name or "(empty name)") in read(given).texts["h1"]


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(["group", "topic"]))
@example("a/b/../topic/c%2F", "group")
@example("..", "topic")
@example(".", "group")
@example("", "group")
@example("?name=x#y", "group")
@example("<script>\n\u2028", "group")
def test_a_link_leads_to_its_name(name: str, kind: str) -> None:
    # As a browser takes it: steps up the path are taken at once.
    whole = urlsplit(urljoin("http://here/", link("shop", kind, name)))

    named = dict(parse_qsl(whole.query)).get("name", "")

    assert parse_link(unquote(whole.path), named) == ("shop", kind, name)
    assert whole.fragment == ""
