# SPDX-License-Identifier: Apache-2.0
"""Disks of a few megabytes, and how full they are."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, megabytes: int) -> Iterator[Path]:
    """A disk of its own below the folder; the test is skipped where nothing may be mounted."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def leave(disk: Path, blocks: int) -> Path:
    """Fills the disk up to so many free blocks; the file that does."""
    filled, there = disk / "filled", os.statvfs(disk)
    filled.write_bytes(bytes((there.f_bavail - blocks) * there.f_bsize))
    return filled
