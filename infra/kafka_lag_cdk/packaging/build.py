# SPDX-License-Identifier: Apache-2.0
"""From sources and requirements to a zip; one that the same inputs have made is taken again.

A file's name tells the hash of all that went into it. The dependencies are kept as a zip of
their own, so that a change of the functions fetches and compresses nothing else again.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kafka_lag_cdk.packaging.archive import Package, add, replacing
from kafka_lag_cdk.packaging.target import PackagingError, Target
from kafka_lag_cdk.packaging.wheels import requirements
from kafka_lag_cdk.packaging.wheels.fetch import fetch as fetch_wheels
from kafka_lag_cdk.packaging.wheels.prune import prune
from kafka_lag_cdk.packaging.wheels.pure import keep_pure

ROOT = Path(__file__).parents[3]
FUNCTIONS, GLUE_JOBS = ROOT / "functions", ROOT / "glue_jobs"
# Packages stay here, so that unchanged sources are not packed again.
BUILT = ROOT / ".local" / "package"

# The older of the Pythons in Glue's versions. Nothing compiled is left, so that the architecture
# only decides which wheel is fetched.
GLUE = Target("3.11", "x86_64")

# Unpacks the requirements in the file into the folder.
Fetch = Callable[[Target, Path, Path], None]

# For people's own machines: no function needs it, nor what it imports.
_COMMAND_LINE = "kafka_lag/cli/"

# Of the functions, what the Glue job imports: the standard library is enough for it.
_SHARED = ("kafka_lag/__init__.py", "kafka_lag/formatting.py", "kafka_lag/contract/")

_KEY_LENGTH = 16
_KEPT = 3

# What the Glue job may import of the library.
_OF_THE_LIBRARY = ("kafka_lag/__init__.py", "kafka_lag/contract/", "kafka_lag/formatting.py")


def build(
    target: Target, folder: Path, *, sources: Path = FUNCTIONS, fetch: Fetch = fetch_wheels
) -> Package:
    """The zip of the functions and what they import, in `folder`, built there if need be.

    Raises PackagingError when dependencies cannot be fetched; then `folder` is as it was.
    """
    names = _Names(own=f"functions-{target}", packages=f"packages-{target}")
    return _built(names, target, folder, sources, _files(sources), _Steps(fetch, prune))


def glue_package(
    folder: Path,
    *,
    sources: Path = GLUE_JOBS,
    library: Path = FUNCTIONS,
    fetch: Fetch = fetch_wheels,
) -> Package:
    """The zip of the Glue job, of what it shares with the functions, and of what Glue lacks.

    Of the `library` it has what the job may import: the contract and the formatting.

    Raises PackagingError also when something of that is compiled, as Glue cannot import it.
    """
    names = _Names(own="glue_jobs", packages="packages-glue")
    own = _files(sources) | {
        name: path for name, path in _files(library).items() if name.startswith(_OF_THE_LIBRARY)
    }
    return _built(names, GLUE, folder, sources, own, _Steps(fetch, keep_pure))


@dataclass(frozen=True, slots=True)
class _Names:
    """What a zip and that of its dependencies are called, before the hash of what went in."""

    own: str
    packages: str


@dataclass(frozen=True, slots=True)
class _Steps:
    """How dependencies come into a folder, and what is taken out of it again."""

    fetch: Fetch
    prune: Callable[[Path], None]


def _built(
    names: _Names,
    target: Target,
    folder: Path,
    sources: Path,
    own: dict[str, Path],
    steps: _Steps,
) -> Package:
    text = _requirements(sources, target)
    dependencies = folder / f"{names.packages}-{_key([text, *_rules()])}.zip"
    path = folder / f"{names.own}-{_key([dependencies.name, *_contents(own)])}.zip"
    if not path.exists():
        if not dependencies.exists():
            _pack_dependencies(target, text, dependencies, steps)
        with replacing(path) as draft:
            shutil.copyfile(dependencies, draft)
            add(draft, own)
        _keep_latest(folder, dependencies)
    _keep_latest(folder, path)
    return Package.of(path)


def _keep_latest(folder: Path, used: Path) -> None:
    """Removes all but those last used of the zips that differ from `used` in their inputs."""
    used.touch()
    kind, _, _ = used.name.rpartition("-")
    alike = sorted(folder.glob(f"{kind}-*.zip"), key=lambda path: path.stat().st_mtime_ns)
    for path in alike[:-_KEPT]:
        path.unlink(missing_ok=True)


def _pack_dependencies(target: Target, text: str, path: Path, steps: _Steps) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Beside the result, as the folder for temporary files is often kept in memory.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as place:
        wanted, packages = Path(place, requirements.NAME), Path(place, "packages")
        wanted.write_text(text)
        packages.mkdir()
        steps.fetch(target, wanted, packages)
        steps.prune(packages)
        with replacing(path) as draft:
            add(draft, _named(packages, packages.rglob("*")))


def _requirements(sources: Path, target: Target) -> str:
    path = sources / requirements.NAME
    if not path.is_file():
        raise PackagingError(f"{path} is missing: write it with {requirements.COMMAND}.")
    return requirements.for_target(path.read_text(), target)


def _files(sources: Path) -> dict[str, Path]:
    """The files below a source root by their names in a zip, without what no function imports."""
    found = _named(sources, sources.rglob("*"))
    return {name: path for name, path in found.items() if not _is_left_out(name, path)}


def _is_left_out(name: str, path: Path) -> bool:
    if path.name.startswith(".") or path.name in (requirements.NAME, "py.typed"):
        return True
    return path.parent.name == "__pycache__" or name.startswith(_COMMAND_LINE)


def _named(root: Path, paths: Iterable[Path]) -> dict[str, Path]:
    return {path.relative_to(root).as_posix(): path for path in paths if path.is_file()}


def _contents(files: dict[str, Path]) -> list[str | bytes]:
    return [part for name in sorted(files) for part in (name, files[name].read_bytes())]


def _rules() -> list[str | bytes]:
    """This code itself: a package built by other rules is another."""
    return _contents(_files(Path(__file__).parent))


def _key(parts: Iterable[str | bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()[:_KEY_LENGTH]
