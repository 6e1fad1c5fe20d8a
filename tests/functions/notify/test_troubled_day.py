# SPDX-License-Identifier: Apache-2.0
"""What people get of a day on which each group has one trouble."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lag import contract
from kafka_lag.notify.messages import Notice
from tests.functions.notify.troubled_day import TROUBLES, simulate_day
from tests.golden import Golden


def kinds(found: Sequence[Notice]) -> tuple[str, ...]:
    each_has = [each.attributes[contract.ATTRIBUTE_KIND] for each in found]
    return tuple(kind for each in each_has for kind in ([each] if isinstance(each, str) else each))


def write(notice: Notice) -> str:
    """Without the lines that end every message."""
    ends = ("Owner: ", "Incident ")
    lines = [line for line in notice.text.splitlines() if not line.startswith(ends)]
    return "\n".join(["", notice.subject, *lines])


def test_each_trouble_of_a_day_is_told_once_with_its_end(golden: Golden) -> None:
    found: dict[str, list[Notice]] = {each.group: [] for each in TROUBLES}
    for message in simulate_day():
        found[str(message.notice.attributes[contract.ATTRIBUTE_GROUP])].append(message.notice)

    assert {group: kinds(each) for group, each in found.items()} == {
        trouble.group: trouble.kinds for trouble in TROUBLES
    }
    assert len({each.thread for each in found["audit"]}) == 1
    golden.holds_cases(
        "messages-of-a-day.txt",
        {
            f"{each.group}: {each.what}": "\n".join(map(write, found[each.group])).lstrip("\n")
            for each in TROUBLES
        },
    )
