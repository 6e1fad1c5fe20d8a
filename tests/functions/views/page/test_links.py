# SPDX-License-Identifier: Apache-2.0
"""Whatever a group or topic is called, its link leads to it."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_lag.views.page.links import found, link


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

    assert found(unquote(whole.path), named) == ("shop", kind, name)
    assert whole.fragment == ""


@pytest.mark.parametrize(
    "path", ["", "/", "/cluster/shop", "/cluster/shop/groups/x", "/x/cluster/shop/group/x"]
)
def test_other_paths_are_no_view(path: str) -> None:
    assert found(path, "") is None
