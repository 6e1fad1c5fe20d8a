# SPDX-License-Identifier: Apache-2.0
"""The only form that AWS's chat integration shows: its custom notification."""

from __future__ import annotations

import json

from kafka_lag.notify.messages.telling import Telling

# What chat would take for a mention, a link or a style, by what looks like it.
_PLAIN = str.maketrans("<>[]*`~", "\u2039\u203a()\u2217'\u223c")
_EVENT_TYPE = "Kafka lag"
# What is longer than some 8,000 characters may not be shown at all.
_LONGEST = 7_500


def for_chat(telling: Telling) -> str:
    """The notice as JSON; all of one incident come in one thread.

    Names may hold what chat takes for mentions and links of its own, so that is made plain.
    """
    notice = telling.notice
    told = {
        "version": "1.0",
        "source": "custom",
        "id": telling.name,
        "content": {
            "textType": "client-markdown",
            "title": notice.subject.translate(_PLAIN),
            "description": _cut(notice.text.translate(_PLAIN)),
        },
        "metadata": {
            "threadId": notice.thread,
            "summary": notice.subject.translate(_PLAIN),
            "eventType": _EVENT_TYPE,
        },
    }
    return json.dumps(told, ensure_ascii=False)


def _cut(text: str) -> str:
    """Whole lines, as many as there is room for."""
    if len(text) <= _LONGEST:
        return text
    return text[:_LONGEST].rpartition("\n")[0] + "\n…"
