# SPDX-License-Identifier: Apache-2.0
"""Regular expressions for names: refused where Go, RE2 or Java read them in another way.

Some look as if they were written for a shell, such as `test-*`: of these there is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

# An escape, a set of characters, or one character.
_ATOM: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
# As kminion and JavaScript write them: no name has a slash before its beginning.
_IN_SLASHES: Final = re.compile(r"/(?P<expression>.+)/(?P<flag>i?)", re.DOTALL)
_POSIX: Final = re.compile(r"\[:(\^?[a-z]+):")
# Python reads these as the signs themselves, and warns that it may not do so for ever.
_SET_SIGN: Final = re.compile(r"&&|--|~~|\|\|")
_AT_MOST: Final = re.compile(r"\{(,\d+\})")
_POSIX_CLASSES: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_ESCAPES: Final = {
    r"\z": r"write \Z for the end",
    r"\Q": r"write a backslash before each sign that means itself",
    r"\E": r"write a backslash before each sign that means itself",
    r"\p": "write the characters themselves, such as [A-Za-z]",
    r"\P": "write the characters themselves, such as [^A-Za-z]",
}
# How Python's own words for a fault begin, and what to do.
_REPAIRS: Final = {
    "global flags not at the start": "write (?i:...) around what the flag is for",
    "unknown extension ?<": "write (?P<name>...), or (...)",
}
# What a person who knows expressions puts before an asterisk.
_REPEATED_ON_PURPOSE = ".)]}"
_BEYOND_A_SHELL = re.compile(r"[()\[\]{}|\\+?]")


def split_atoms(expression: str) -> list[str]:
    """Escapes, sets of characters, and single characters, in order."""
    return _ATOM.findall(expression)


def find_expression_fault(text: str) -> str | None:
    """Return what is wrong with an expression; null if Python reads it as its author means it."""
    if not text:
        return "must not be empty: every name matches that; leave it out"
    if found := _IN_SLASHES.fullmatch(text):
        meant = f"(?i){found['expression']}" if found["flag"] else found["expression"]
        return f"is written between slashes, which would be part of the name: write {meant}"
    for construct, repair in _other_constructs(text):
        return f"holds {construct}, which Python reads otherwise or not at all: {repair}"
    try:
        re.compile(text)
    except re.error as error:
        repairs = (each for start, each in _REPAIRS.items() if error.msg.startswith(start))
        repair = next((f"; {each}" for each in repairs), "")
        return f"is not a regular expression ({error}): {text!r}{repair}"
    return None


def _other_constructs(text: str) -> Iterator[tuple[str, str]]:
    """Yield constructs that other programs have and Python lacks, and what to write instead."""
    for escape in _ESCAPE.findall(text):
        if escape in _ESCAPES:
            yield escape, _ESCAPES[escape]
    for atom in split_atoms(text):
        if len(atom) > 1 and atom[0] == "[":
            yield from _other_sets(_ESCAPE.sub(" ", atom[1:-1].removeprefix("^")), atom)
    for counted in _AT_MOST.findall(_ESCAPE.sub(" ", "".join(_outside_sets(text)))):
        yield f"{{{counted}", f"write {{0{counted}"


def _other_sets(content: str, atom: str) -> Iterator[tuple[str, str]]:
    """Classes and sets within a set of which the `content` has lost its escapes."""
    if found := _POSIX.search(content):
        meant = _POSIX_CLASSES.get(found[1])
        yield f"{found[0]}]", f"write {meant}" if meant else "write the characters themselves"
    elif "[" in content:
        yield atom, r"write \[ for the bracket itself"
    elif found := _SET_SIGN.search(content):
        yield f"{found[0]} in a set", f"write \\{found[0][0]} for the sign itself"


def _outside_sets(text: str) -> Iterator[str]:
    return (atom for atom in split_atoms(text) if len(atom) == 1 or atom[0] == "\\")


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
