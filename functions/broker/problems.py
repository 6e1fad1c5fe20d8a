# SPDX-License-Identifier: Apache-2.0
"""What a run could not read, named for a person: brokers, groups, topics and partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from functions.broker.groups.census import Census, Group
from functions.broker.groups.commits import Commits
from functions.broker.groups.members import Description
from functions.broker.wire.connection import Wire
from functions.lag.frame import Frame
from functions.lag.model import Problem


def problems_of(
    wire: Wire,
    census: Census,
    groups: list[Group],
    commits: Commits,
    descriptions: Mapping[str, Description],
    partitions: Frame,
    hidden: Mapping[str, str],
) -> tuple[Problem, ...]:
    """Each cause once, the widest first."""
    brokers = {p.name: p for p in census.problems}
    for node, silence in wire.down().items():
        detail = silence.detail.removeprefix(f"broker {node}: ")
        brokers[str(node)] = Problem("broker", str(node), silence.reason, detail)
    return (
        *brokers.values(),
        *_groups(groups, commits, descriptions),
        *(Problem("topic", name, why, "no longer listed") for name, why in hidden.items()),
        *_partitions(partitions),
    )


def _groups(
    groups: list[Group], commits: Commits, descriptions: Mapping[str, Description]
) -> Iterator[Problem]:
    for group in groups:
        described = descriptions.get(group.name, Description())
        if group.reason is not None:
            yield Problem("group", group.name, group.reason, "no broker lists it any more")
        elif group.name in commits.silent:
            yield Problem("group", group.name, *commits.silent[group.name])
        elif described.reason is not None:
            yield Problem("group", group.name, described.reason, f"members: {described.detail}")


def _partitions(partitions: Frame) -> Iterator[Problem]:
    silent = partitions.where(partitions.words("unread_reason").known)
    names = silent.words("topic").to_list()
    numbers = silent.numbers("partition_id").to_list()
    reasons = silent.words("unread_reason").to_list()
    for topic, number, reason in zip(names, numbers, reasons, strict=True):
        yield Problem("partition", f"{topic}-{number}", reason, "offsets not read")
