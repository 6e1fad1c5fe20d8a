# SPDX-License-Identifier: Apache-2.0
"""Regular expressions that look as if they were written for a shell, such as `test-*`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafka_lag_config.expressions import split_atoms

# What a person who knows expressions puts before an asterisk.
_REPEATED_ON_PURPOSE = ".)]}"
_BEYOND_A_SHELL = re.compile(r"[()\[\]{}|\\+?]")


@dataclass(frozen=True, slots=True)
class ShellPattern:
    """The character `repeated` by the first such asterisk, and the expression probably `meant`."""

    repeated: str
    meant: str


def shell_pattern_in(expression: str) -> ShellPattern | None:
    """Return the pattern if an asterisk follows a letter, digit, hyphen or the like, else null."""
    atoms = split_atoms(expression)
    stars = [
        at
        for at, (before, atom) in enumerate(pairwise(atoms), 1)
        if atom == "*" and len(before) == 1 and before not in _REPEATED_ON_PURPOSE
    ]
    return ShellPattern(atoms[stars[0] - 1], _meant(atoms, stars)) if stars else None


def _meant(atoms: Sequence[str], stars: Sequence[int]) -> str:
    """A shell's patterns are for whole names; where there is more to it, for what it was."""
    text = "".join(".*" if at in stars else atom for at, atom in enumerate(atoms))
    if _BEYOND_A_SHELL.search(text):
        return text
    whole = text.removeprefix("^").removesuffix("$")
    return f"^{whole[:-2]}" if whole.endswith(".*") else f"^{whole}$"
