# SPDX-License-Identifier: Apache-2.0
"""Which shared libraries a folder of packages needs, as the ELF files name one another."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

# Of ELF's 64-bit little-endian form; see elf(5).
_MAGIC = b"\x7fELF\x02\x01"
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB = 1, 5
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
_DYNAMIC = struct.Struct("<qQ")

MACHINES = {62: "x86_64", 183: "aarch64"}


def machine_of(content: bytes) -> str | None:
    """The machine an ELF file is for; None when it is no such file or of another machine."""
    if not content.startswith(_MAGIC):
        return None
    return MACHINES.get(struct.unpack_from("<H", content, 18)[0])


def needed_by(content: bytes) -> frozenset[str]:
    """The names of the libraries that an ELF file has loaded with it; none for another file."""
    if not content.startswith(_MAGIC):
        return frozenset()
    headers = list(_program_headers(content))
    entries = [entry for header in headers for entry in _dynamic(content, header)]
    tables = [value for tag, value in entries if tag == _DT_STRTAB]
    if not tables:
        return frozenset()
    names = _offset_of(tables[0], headers)
    return frozenset(_text(content, names + v) for tag, v in entries if tag == _DT_NEEDED)


def unneeded(packages: Path) -> list[Path]:
    """The shared libraries that no extension module asks for, not through others either."""
    files = {path: needed_by(path.read_bytes()) for path in packages.rglob("*.so*")}
    libraries = {path for path in files if _is_library(path)}
    wanted = _together(names for path, names in files.items() if path not in libraries)
    while True:
        more = wanted | _together(files[path] for path in libraries if path.name in wanted)
        if more == wanted:
            return sorted(path for path in libraries if path.name not in wanted)
        wanted = more


def _is_library(path: Path) -> bool:
    """Whether it is for other files to load; Python itself imports the rest."""
    module = ".cpython-" in path.name or ".abi3." in path.name
    return path.name.startswith("lib") and not module


def _together(sets: Iterator[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _program_headers(content: bytes) -> Iterator[tuple[int, ...]]:
    (table,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    return (_PROGRAM_HEADER.unpack_from(content, table + i * size) for i in range(count))


def _dynamic(content: bytes, header: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    kind, _, offset, _, _, size, _, _ = header
    if kind == _PT_DYNAMIC:
        yield from _DYNAMIC.iter_unpack(content[offset : offset + size])


def _offset_of(address: int, headers: list[tuple[int, ...]]) -> int:
    """Where in the file lies what is loaded at `address`."""
    for kind, _, offset, start, _, size, _, _ in headers:
        if kind == _PT_LOAD and start <= address < start + size:
            return offset + address - start
    raise ValueError(f"no segment of the file is loaded at {address:#x}")


def _text(content: bytes, start: int) -> str:
    return content[start : content.index(b"\0", start)].decode()
