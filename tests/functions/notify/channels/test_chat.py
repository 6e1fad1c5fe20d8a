# SPDX-License-Identifier: Apache-2.0
"""What AWS's chat integration shows."""

from __future__ import annotations

import json

from functions.notify.channels.chat import for_chat
from functions.notify.messages.tellings import tellings
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
