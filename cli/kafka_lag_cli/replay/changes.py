# SPDX-License-Identifier: Apache-2.0
"""The pages of two configurations on the same days: which are added, gone, or at another time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf

import numpy as np

from kafka_lag import contract
from kafka_lag.wording.formatting import format_duration, format_quantity
from kafka_lag_cli.replay.pages import Page
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_config.cluster import Cluster


class Kind(Enum):
    """The change of a page."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Change:
    """A page as one configuration sends it and as the other does; null where it does not."""

    before: Page | None
    after: Page | None

    @property
    def kind(self) -> Kind:
        """MOVED where it goes out earlier or later."""
        if self.before is None:
            return Kind.ADDED
        if self.after is None:
            return Kind.REMOVED
        return Kind.SAME if self.before.begin == self.after.begin else Kind.MOVED

    @property
    def later_seconds(self) -> float | None:
        """The seconds by which the page goes out later, negative for earlier; null without both
        pages."""
        if self.before is None or self.after is None:
            return None
        return (self.after.begin - self.before.begin) / 1000

    @property
    def page(self) -> Page:
        """The page as it will be, or was."""
        page = self.after or self.before
        assert page is not None  # noqa: S101 - a change has one of the two
        return page


def find_changes(
    before: Sequence[Page], after: Sequence[Page], *, by_group: bool = False
) -> list[Change]:
    """The pages of two configurations in order of time.

    Two pages are the same one where they are about the same thing of the same group, and on at the
    same time; of several the first that is not taken. Alerts of others have names of their own, so
    `by_group` takes any two pages of the same group.
    """
    find_subject = _group if by_group else _subject
    rest: dict[tuple[str | None, ...], list[Page]] = defaultdict(list)
    for page in before:
        rest[find_subject(page)].append(page)
    changes = []
    for page in after:
        same = next((old for old in rest[find_subject(page)] if _overlap(old, page)), None)
        if same is not None:
            rest[find_subject(page)].remove(same)
        changes.append(Change(same, page))
    changes += [Change(page, None) for pages in rest.values() for page in pages]
    changes.sort(key=lambda change: (change.page.begin, change.page.rule, change.page.group or ""))
    return changes


def _group(page: Page) -> tuple[str | None, ...]:
    return page.cluster, page.group


def _subject(page: Page) -> tuple[str | None, ...]:
    return page.cluster, page.family, page.group


def _overlap(one: Page, other: Page) -> bool:
    return one.begin < (other.end or inf) and other.begin < (one.end or inf)


def summarise_changes(changes: Sequence[Change], days: float) -> str:
    """Returns a sentence on how many pages come, go, stay and move."""
    kinds = Counter(change.kind for change in changes)
    text = f"+{kinds[Kind.ADDED]:,}, -{kinds[Kind.REMOVED]:,} pages"
    text += f" in {format_quantity(max(round(days), 1), 'day')}; {kinds[Kind.SAME]:,} stay"
    if kinds[Kind.MOVED]:
        later = [change.later_seconds or 0 for change in changes if change.kind == Kind.MOVED]
        slowest, fastest = max(later), min(later)
        parts = [f"up to {format_duration(slowest)} later"] if slowest > 0 else []
        parts += [f"up to {format_duration(-fastest)} earlier"] if fastest < 0 else []
        text += f", {kinds[Kind.MOVED]:,} move ({' or '.join(parts)})"
    return f"{text}."


def count_task_hours(recorded: Recorded, cluster: Cluster) -> float:
    """Returns the hours of tasks that services get which are set to the tasks their groups need.

    It takes the numbers that were recorded, within the bounds of this configuration. Runs in which
    a group's number is not known do not count.
    """
    places, hours = {name: at for at, name in enumerate(recorded.groups)}, 0.0
    # A number holds until the next run, whatever interval this configuration has.
    gaps = np.diff(np.flatnonzero(recorded.has_run))
    minutes = float(np.median(gaps)) if len(gaps) else 1.0
    for scaling in (each.scaling for each in cluster.facts.services if each.scaling.tasks):
        at = [places[group] for group in scaling.groups if group in places]
        if len(at) == len(scaling.groups):
            needed = recorded.metric(contract.TASKS_NEEDED, cluster)[:, at].max(axis=1)
            tasks = np.clip(needed, scaling.min, scaling.most)
            hours += float(np.nansum(tasks)) * minutes / 60
    return hours


def describe_kind(change: Change) -> str:
    """Returns the kind of a change, for one that moves by how much."""
    if change.kind != Kind.MOVED:
        kind: str = change.kind.value
        return kind
    later = change.later_seconds or 0
    return f"{format_duration(abs(later))} {'later' if later > 0 else 'earlier'}"
