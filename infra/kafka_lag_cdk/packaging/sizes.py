# SPDX-License-Identifier: Apache-2.0
"""What a package weighs, part by part, against what Lambda and a deploy bear."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from zipfile import ZipFile

from rich.table import Table

from kafka_lag_cdk.packaging.archive import Package

# Ours: of 250 MB that Lambda unpacks, layers included, and short enough for a deploy to upload.
ZIPPED_LIMIT = 70_000_000
UNZIPPED_LIMIT = 200_000_000

_METADATA = "package metadata"
_SHOWN = 8


def unzipped_by_part(archive: Path) -> list[tuple[str, int]]:
    """The folders and files at the zip's root and their bytes unpacked, the largest first."""
    parts: Counter[str] = Counter()
    with ZipFile(archive) as zipped:
        for entry in zipped.infolist():
            root = entry.filename.split("/")[0]
            parts[_METADATA if root.endswith(".dist-info") else root] += entry.file_size
    return parts.most_common()


def excesses(package: Package) -> list[str]:
    """A sentence for each limit that the package is over."""
    held = [
        ("Zipped", package.zipped_bytes, ZIPPED_LIMIT),
        ("Unpacked", package.unzipped_bytes, UNZIPPED_LIMIT),
    ]
    return [
        f"{state} it has {_mb(size)}, more than the {_mb(limit)} allowed."
        for state, size, limit in held
        if size > limit
    ]


def table(package: Package) -> Table:
    """The largest parts, the others together, and the whole beside its limits."""
    shown = Table("part", box=None, pad_edge=False)
    shown.add_column("size", justify="right")
    shown.add_column("limit", justify="right")
    parts = unzipped_by_part(package.path)
    for name, size in parts[:_SHOWN]:
        shown.add_row(name, _mb(size), "")
    if parts[_SHOWN:]:
        rest = parts[_SHOWN:]
        shown.add_row(f"{len(rest)} others", _mb(sum(size for _, size in rest)), "")
    shown.add_section()
    shown.add_row("unpacked", _mb(package.unzipped_bytes), _mb(UNZIPPED_LIMIT))
    shown.add_row("zipped", _mb(package.zipped_bytes), _mb(ZIPPED_LIMIT))
    return shown


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
