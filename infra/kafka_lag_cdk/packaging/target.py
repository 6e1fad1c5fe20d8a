# SPDX-License-Identifier: Apache-2.0
"""The Lambda runtime that a package is for, in the words of AWS and of Python's wheels."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from typing import Literal, Self, cast, get_args

Architecture = Literal["arm64", "x86_64"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)

# Runtimes whose C library (glibc 2.34) is new enough for pyarrow's wheels, which ask for 2.28.
DEPLOYABLE = ("3.12", "3.13", "3.14")

# The oldest that this project supports; its Lambda runtime is too old, this machine is not.
_PYTHONS = ("3.11", *DEPLOYABLE)

_MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}


class PackagingError(Exception):
    """A package that cannot be built: one sentence says what failed and what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """A Python version, as in "3.13", and an architecture in Lambda's words.

    Raises PackagingError for one that no package can be built for.
    """

    python: str = "3.13"
    architecture: Architecture = "arm64"

    def __post_init__(self) -> None:
        if self.python not in _PYTHONS:
            raise PackagingError(
                f"There are no packages for Python {self.python!r}: choose one of "
                f"{', '.join(DEPLOYABLE)}."
            )
        if self.architecture not in ARCHITECTURES:
            raise PackagingError(
                f"Lambda has no architecture {self.architecture!r}: choose one of "
                f"{', '.join(ARCHITECTURES)}."
            )

    @classmethod
    def here(cls) -> Self:
        """This interpreter on this machine: what a test can run, not what is deployed."""
        words = {machine: word for word, machine in _MACHINES.items()} | {"arm64": "arm64"}
        machine = platform.machine()
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return cls(version, cast("Architecture", words.get(machine, machine)))

    @property
    def machine(self) -> str:
        """The architecture as wheels and the kernel call it."""
        return _MACHINES[self.architecture]

    def __str__(self) -> str:
        return f"py{self.python}-{self.architecture}"
