# SPDX-License-Identifier: Apache-2.0
"""What AWS's chat integration shows."""

from __future__ import annotations

import json
from dataclasses import replace

from kafka_lag.notify.channels.chat import for_chat
from kafka_lag.notify.messages.tellings import tellings
from tests.functions.notify.builders import a_change


def test_a_notice_has_the_form_that_chat_shows_and_the_thread_of_its_incident() -> None:
    change = a_change()
    (telling,) = tellings([change], 100)
    told = json.loads(for_chat(telling))

    assert (told["version"], told["source"], told["id"]) == ("1.0", "custom", change.name)
    assert told["content"]["textType"] == "client-markdown"
    assert told["content"]["title"] == telling.notice.subject
    assert told["content"]["description"] == telling.notice.text
    assert told["metadata"]["threadId"] == change.id


def test_a_name_cannot_mention_link_or_shout() -> None:
    (telling,) = tellings([a_change("<!channel> *now* [x](http://x) `~`")], 100)
    content = json.loads(for_chat(telling))["content"]

    assert not set("<>[]*`~") & set(content["title"] + content["description"])


def test_what_is_too_long_for_chat_is_cut_at_a_line() -> None:
    news = [a_change(f"group-{number:05}-{'x' * 180}") for number in range(40)]
    row = {"worst_topic": "t" * 200, "worst_partition": 1, "worst_member": "m" * 200}
    news = [replace(change, row={**change.row, **row}) for change in news]
    (telling,) = tellings(news, len(news))

    description = json.loads(for_chat(telling))["content"]["description"]

    assert len(telling.notice.text) > 8_000
    assert len(description) <= 7_502
    assert description.splitlines()[-1] == "…"
    assert description.splitlines()[-2] in telling.notice.text.splitlines()
