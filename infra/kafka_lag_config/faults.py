# SPDX-License-Identifier: Apache-2.0
"""Faults of a configuration: where, and in a sentence what was expected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches

Place = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at a place; an empty place stands for the whole configuration.

    `joint` where several keys make it together, so that none of them is wrong by itself; `beside`
    the place are those others of them that are known.
    """

    place: Place
    sentence: str
    joint: bool = False
    beside: tuple[str, ...] = ()

    def below(self, *above: int | str) -> Fault:
        """The same, seen from further out."""
        return replace(self, place=(*above, *self.place))

    def __str__(self) -> str:
        path = path_of(self.place)
        return f"{path}: {self.sentence}" if path else self.sentence


class FaultsError(ValueError):
    """All that is wrong with one object, where the values in it are right one by one."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, self.faults)))

    @classmethod
    def raise_any(cls, faults: Iterable[Fault]) -> None:
        """Raises itself unless there are none."""
        found = cls(faults)
        if found.faults:
            raise found


class ConfigurationError(Exception):
    """A configuration with faults; its text lists them all, one a line."""

    def __init__(self, source: str, faults: Iterable[Fault | str]) -> None:
        self.faults = tuple(dict.fromkeys(map(str, faults)))
        lines = "".join(f"\n  {fault}" for fault in self.faults)
        super().__init__(f"The configuration in {source} has faults:{lines}")

    @property
    def line(self) -> str:
        """The same on one line."""
        first, *_ = str(self).splitlines()
        line = f"{first} {'; '.join(self.faults)}"
        return line if line.endswith((".", "?")) else f"{line}."


def path_of(place: Place) -> str:
    """`clusters[0].vpc.id` for ("clusters", 0, "vpc", "id")."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def unknown(key: str, valid: Iterable[str]) -> str:
    """Return the sentence about an unknown key."""
    near = get_close_matches(key, sorted(valid), n=1)
    return "unknown key" + (f", did you mean {near[0]}?" if near else "")
