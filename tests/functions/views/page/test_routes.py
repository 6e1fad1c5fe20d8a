# SPDX-License-Identifier: Apache-2.0
"""Every path is answered with a page that may do nothing but be read."""

from __future__ import annotations

import base64
import hashlib
import re
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page import answer, link, parse_link
from tests.fakes import MemoryStore
from tests.functions.views.page.reading import read
from tests.functions.views.page.rows import NOON, a_group
from tests.functions.views.page.shop import opened, put, text_of

PATHS = ["/", "/cluster/shop/group/billing", "/cluster/shop/topic/orders", "/nothing/here"]


@pytest.fixture(name="store", scope="module")
def _store() -> MemoryStore:
    return put(MemoryStore())


@pytest.mark.parametrize("path", PATHS)
def test_a_page_allows_its_own_style_and_script_alone(store: MemoryStore, path: str) -> None:
    given = opened(store, path)
    policy = given.headers["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        for inner in re.findall(rf"<{kind}>(.*?)</{kind}>", text_of(given), re.DOTALL):
            digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy
    assert " style=" not in text_of(given)


def test_a_page_is_cached_and_referred_to_nowhere(store: MemoryStore) -> None:
    headers = opened(store).headers

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_one_heading_and_its_landmarks(store: MemoryStore, path: str) -> None:
    tags = read(opened(store, path)).tags

    assert [tags.count(tag) for tag in ("h1", "main", "header")] == [1, 1, 1]
    assert tags.count("caption") == tags.count("table")


@pytest.mark.parametrize(
    "path",
    [
        *("/nothing", "/cluster", "/cluster/nope/group/billing", "//"),
        *("/cluster/..%2F..%2Fsecrets/group/x", "/../../etc/passwd", "/%00", "/%ED%A0%80"),
    ],
)
def test_what_there_is_not_is_not_found(store: MemoryStore, path: str) -> None:
    assert opened(store, path).status == 404


@pytest.mark.parametrize(
    "query",
    [
        *("page=-5", "sort=xyz", "status=%00", "owner=%F0%9F%92%A9", "=&&&=", "q=%ED%A0%80"),
        "q=" + "a%25" * 2_500,
        "page=" + "9" * 7_000,
        "x=" + "y" * 1_000_000,
    ],
)
@pytest.mark.parametrize("path", PATHS[:3])
def test_absurd_parameters_have_a_sober_answer(store: MemoryStore, path: str, query: str) -> None:
    given = opened(store, path, query)

    assert given.status == 200
    assert len(given.body) < 60_000


def test_a_store_that_is_down_is_reported_without_its_message() -> None:
    given = opened(MemoryStore(down=["folders"]))

    assert given.status == 503
    assert "The snapshots cannot be read now." in read(given).texts["main"]
    assert "the store cannot" not in text_of(given)


def test_partitions_that_cannot_be_read_are_no_empty_table() -> None:
    store = put(MemoryStore())
    store.objects[object_key(contract.GROUP_PARTITIONS, "shop", NOON)] = b"torn"

    assert opened(store, PATHS[1]).status == 503


def test_a_cluster_of_which_nothing_can_be_read_is_out_of_service() -> None:
    store = put(MemoryStore())
    store.objects[object_key(contract.GROUPS, "shop", NOON)] = b"torn"

    assert opened(store, PATHS[1]).status == 503


def test_nothing_can_be_changed_here(store: MemoryStore) -> None:
    request = Request.of("POST", "/", "", {})

    assert answer(request, Snapshots(store, lambda: NOON / 1000), NOON).status == 405


def test_refreshing_can_be_stopped_and_stays_so(store: MemoryStore) -> None:
    on, off = text_of(opened(store)), text_of(opened(store, "/", "refresh=off"))

    assert '<noscript><meta http-equiv="refresh" content="60"></noscript>' in on
    assert "http-equiv" not in off
    assert "data-refresh" not in off
    assert "?sort=lag&amp;refresh=off" in off


@pytest.mark.parametrize(
    ("path", "query", "location"),
    [
        ("/cluster/shop", "", "/?cluster=shop"),
        ("/cluster/shop/", "", "/?cluster=shop"),
        ("/cluster/shop", "sort=-lag&cluster=other", "/?sort=-lag&cluster=shop"),
        (
            "/cluster/a%22%0d%0ab",
            "q=%ED%A0%80",
            "/?q=%EF%BF%BD%EF%BF%BD%EF%BF%BD&cluster=a%22%0D%0Ab",
        ),
    ],
)
def test_a_path_cut_to_its_cluster_leads_to_its_groups(
    store: MemoryStore, path: str, query: str, location: str
) -> None:
    given = opened(store, path, query)

    assert (given.status, given.headers["Location"]) == (302, location)


@pytest.mark.parametrize(
    ("path", "query", "location"),
    [
        ("/cluster/shop/group/billing/", "", "/cluster/shop/group/billing"),
        ("/cluster/shop/topic/a%2Fb//", "sort=-lag", "/cluster/shop/topic/a%2Fb?sort=-lag"),
    ],
)
def test_a_trailing_slash_is_redirected_to_the_path_without(
    store: MemoryStore, path: str, query: str, location: str
) -> None:
    given = opened(store, path, query)

    assert (given.status, given.headers["Location"]) == (301, location)


@pytest.mark.parametrize(
    "path",
    ["/cluster/shop/group/", "/cluster/shop/group//", "/cluster/shop/group/x%2F", "/nothing/",
     "//evil.example/", "//cluster/shop/", "/\\evil.example/", "/cluster/"],
)  # fmt: skip
def test_a_slash_of_a_name_or_of_no_page_is_not_redirected(store: MemoryStore, path: str) -> None:
    assert opened(store, path).status == 404


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


@pytest.mark.parametrize(
    "path", ["", "/", "/cluster/shop", "/cluster/shop/groups/x", "/x/cluster/shop/group/x"]
)
def test_other_paths_are_no_view(path: str) -> None:
    assert parse_link(path, "") is None
