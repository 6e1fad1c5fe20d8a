# SPDX-License-Identifier: Apache-2.0
"""Small stand-ins for packages: folders of files, and shared libraries that name others."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_lag_cdk.packaging.target import PackagingError, Target

_HEADERS = 64 + 2 * 56


def shared_object(needs: Sequence[str] = (), machine: int = 62) -> bytes:
    """An ELF file of nothing but the names it needs, loaded 4 KiB from where they lie."""
    strings, entries = b"\0", b""
    for name in needs:
        entries += struct.pack("<qQ", 1, len(strings))
        strings += name.encode() + b"\0"
    moved = 0x1000
    entries += struct.pack("<qQ", 5, _HEADERS + moved) + struct.pack("<qQ", 0, 0)
    size = len(strings) + len(entries)
    start = struct.pack("<4sBBBB8xHHI", b"\x7fELF", 2, 1, 1, 0, 3, machine, 1)
    start += struct.pack("<QQQIHHHHHH", 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 4, 0, moved, moved, _HEADERS + size, _HEADERS + size, 1)
    at = _HEADERS + len(strings)
    dynamic = struct.pack("<IIQQQQQQ", 2, 4, at, at + moved, at + moved, *[len(entries)] * 2, 8)
    return start + load + dynamic + strings + entries


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes files under their names relative to `folder`, which it returns."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


class Index:
    """A package index whose wheels are `files`: it keeps what it was asked and may fail."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.files = files
        self.asked: list[tuple[Target, str]] = []
        self.refuses = False

    def fetch(self, target: Target, requirements: Path, folder: Path) -> None:
        self.asked.append((target, requirements.read_text()))
        write(folder, self.files)
        if self.refuses:
            raise PackagingError("no route")
