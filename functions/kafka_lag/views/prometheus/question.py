# SPDX-License-Identifier: Apache-2.0
"""What a scrape may ask for; whatever else it asks is refused in one sentence."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_lag.lag.columns import Mask, Strings

GROUP, TOPIC, PARTITION = LEVELS = ("group", "topic", "partition")
_KNOWN = ("level", "cluster", "group", "shard")
_SHARD = re.compile(r"(\d{1,4})of(\d{1,4})", re.ASCII)
_FEW_SHARDS, _MOST_SHARDS = 4, 9999
_SHOWN = 60


class QuestionError(ValueError):
    """The question makes no sense; its text is the sentence for whoever asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """One scrape: `cluster` and `group` None ask for all, shard `part` of `parts` for a share."""

    level: str = GROUP
    cluster: str | None = None
    group: str | None = None
    part: int = 0
    parts: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Question:
        """From the query's parameters. Raises QuestionError."""
        unknown = sorted(set(query) - set(_KNOWN))
        if unknown:
            raise QuestionError(f"No parameter {_shown(unknown[0])}; there are {_listed(_KNOWN)}.")
        level = query.get("level", GROUP)
        if level not in LEVELS:
            raise QuestionError(f"No level {_shown(level)}; there are {_listed(LEVELS)}.")
        part, parts = _shard(query.get("shard", "0of1"))
        return cls(level, query.get("cluster"), query.get("group"), part, parts)

    def takes_group(self, names: Strings) -> Mask:
        """Rows of groups that were asked for."""
        wanted = [name for name in names.categories if self.group in (None, name)]
        return names.is_in(name for name in wanted if self._takes(name))

    def takes_topic(self, names: Strings) -> Mask:
        """Rows of topics that were asked for: in shards like groups, none beside one group."""
        wanted = names.categories if self.group is None else ()
        return names.is_in(name for name in wanted if self._takes(name))

    def ways_to_less(self) -> Iterator[str]:
        """What to ask for instead where all of this is too much."""
        if self.group is None:
            yield "one group (?group=NAME)"
        if self.cluster is None:
            yield "one cluster (?cluster=NAME)"
        if self.level != GROUP:
            coarser = LEVELS[LEVELS.index(self.level) - 1]
            yield f"a coarser level (?level={coarser})"
        parts = max(2 * self.parts, _FEW_SHARDS)
        # a group is never told in two shards
        if self.group is None and parts <= _MOST_SHARDS:
            shards = f"?shard=0of{parts} to ?shard={parts - 1}of{parts}"
            yield f"shares of the groups as targets of their own ({shards})"

    def _takes(self, name: str) -> bool:
        return zlib.crc32(name.encode()) % self.parts == self.part


def _shard(text: str) -> tuple[int, int]:
    found = _SHARD.fullmatch(text)
    part, parts = (int(found[1]), int(found[2])) if found else (0, 0)
    if part >= parts:
        raise QuestionError(f"No shard {_shown(text)}; of three they are 0of3, 1of3 and 2of3.")
    return part, parts


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _shown(text: str) -> str:
    return repr(text[:_SHOWN])
