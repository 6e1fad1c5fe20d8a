# SPDX-License-Identifier: Apache-2.0
"""The groups of one run: which to report, then their commits and members, retried by group."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from kafka_lag.brokers.failures import Failure
from kafka_lag.brokers.groups.census import Group, list_groups, seek
from kafka_lag.brokers.groups.commits import Commits, read_commits
from kafka_lag.brokers.groups.members import Description, describe, prove
from kafka_lag.brokers.retries import Retries
from kafka_lag.brokers.topics.table import TopicTable
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.lag.model import Problem
from kafka_lag.lag.rules import NameFilter


@dataclass(frozen=True, slots=True)
class Roll:
    """The groups to report, the known ones proven deleted, and brokers that could not list."""

    groups: list[Group] = field(default_factory=list)
    gone: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list)


async def find_groups(
    wire: Wire, retries: Retries, wanted: NameFilter, known: Collection[str], once: Collection[str]
) -> Roll:
    """The groups listed, and the `known` ones that were not: found after all, unread or gone.

    A search for groups in `once` is not retried.
    """
    census = await list_groups(wire, wanted, retries)
    found: dict[str, Group] = {}
    gone: set[str] = set()

    async def ask(names: list[str], retry: int) -> list[str]:
        sought = await seek(wire, names)
        proofs = await prove(wire, [g for g in sought.values() if g.coordinator is not None])
        for name in names:
            group = sought[name]
            proof = proofs.get(name, Description(failure=group.failure))
            found[name] = replace(group, failure=proof.failure, state=proof.state, kind=proof.kind)
            if proof.absent:
                gone.add(name)
        return [n for n in names if n not in once and _retries(found[n].failure) > retry]

    missing = {name for name in known if name not in census.groups and wanted.accepts(name)}
    await retries.of(sorted(missing), ask)
    groups = [*census.groups.values(), *(found[name] for name in sorted(found.keys() - gone))]
    return Roll(groups, frozenset(gone), census.problems)


async def read_groups(
    wire: Wire,
    retries: Retries,
    roll: Roll,
    table: TopicTable,
    once: Collection[str],
    clock: Callable[[], float],
) -> tuple[Commits, dict[str, Description]]:
    """Commits and descriptions of the groups that can have some; those in `once` not retried."""
    live = [g for g in roll.groups if g.supported and g.coordinator is not None and not g.failure]
    commits = Commits(tuple(group.name for group in live))
    descriptions: dict[str, Description] = {}

    def failures(name: str) -> tuple[Failure | None, Failure | None]:
        return commits.silent.get(name), descriptions.get(name, Description()).failure

    async def ask(groups: list[Group], retry: int) -> list[Group]:
        if retry:
            sought = await seek(wire, [group.name for group in groups])
            groups = [replace(g, coordinator=sought[g.name].coordinator) for g in groups]
        unread = [group for group in groups if group.name not in commits.read_at]
        vague = [g for g in groups if g.name not in descriptions or failures(g.name)[1]]
        _, described = await wire.together_any(
            read_commits(wire, unread, table, commits, clock), describe(wire, vague)
        )
        descriptions.update(described)
        return [
            group
            for group in groups
            if group.name not in once and max(map(_retries, failures(group.name))) > retry
        ]

    await retries.of(live, ask)
    return commits, descriptions


def _retries(failure: Failure | None) -> int:
    return failure.retries if failure else 0
