# SPDX-License-Identifier: Apache-2.0
"""Lambda package and Glue modules: folders of sources and locked wheels, for CDK to hash and zip.

`python -m kafka_lag_cdk.packaging` builds the Lambda package and prints its size.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self


def _cache() -> Path:
    """Return the cache's folder: in a clone, or else in the user's cache folder."""
    if PROJECT == ROOT:
        return ROOT / ".local" / "package"
    own = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(own, "msk-lag-reporter", "package")


ROOT = Path(__file__).parents[2]
# Where the lock file is: beside the sources, or in the wheel.
PROJECT = ROOT if (ROOT / "uv.lock").is_file() else Path(__file__).parent / "locked"
# Folders stay here by a hash of what went in, so that unchanged inputs install nothing again.
CACHE = _cache()
# Of each kind: enough to switch between branches without installing again.
_FOLDERS_RETAINED = 3

# Lambda's limit for a function with its layers is 250 MB unpacked.
UNPACKED_LIMIT = 250_000_000

Architecture = Literal["arm64", "x86_64"]
_MACHINES: dict[Architecture, str] = {"arm64": "aarch64", "x86_64": "x86_64"}

# boto3 and what it needs come with Lambda's Python. jmespath does too, only there it belongs to
# boto3: powertools imports it, so it is held to the version that was tested.
_IN_THE_RUNTIME = ("boto3", "botocore", "python-dateutil", "s3transfer", "six", "urllib3")
# The IAM signer's command line alone imports click, ours alone the others: rich, uvicorn, and
# pydantic with what it needs, which reads and checks a configuration before a function does.
_NOT_IMPORTED = (
    *("click", "rich", "markdown-it-py", "mdurl", "pygments", "uvicorn", "h11"),
    *("pydantic", "pydantic-core", "annotated-types", "typing-inspection"),
)
# What the Glue job may import of the library.
_SHARED_WITH_GLUE = ("kafka_lag/__init__.py", "kafka_lag/contract/", "kafka_lag/wording/")

# Globs from the folder of all packages; `**/` is any depth.
PRUNED = (
    # What only compilers, type checkers, tests and installers read. METADATA stays, as a package
    # asks for its own version there and vulnerability scanners know it by that file; licences do.
    *(".*", "bin", "**/__pycache__", "**/*.pyi", "**/*.pxd", "**/*.pxi", "**/*.pyx", "**/py.typed"),
    *("**/*.h", "**/*.hpp", "**/*.c", "**/*.cc", "**/*.a", "**/include", "**/includes"),
    *(f"*.dist-info/{name}" for name in ("INSTALLER", "RECORD", "REQUESTED", "WHEEL", "*.json")),
    *("*.dist-info/entry_points.txt", "*.dist-info/top_level.txt"),
    *("*/test", "**/tests", "**/conftest.py", "**/*_tests.*.so"),
    # Arrow's other formats, engines and file systems: pyarrow imports them on request, and
    # `pyarrow.fs` does without those it does not find.
    *(f"pyarrow/{name}.py" for name in ("acero", "benchmark", "cffi", "csv", "cuda", "dataset")),
    *(f"pyarrow/{name}.py" for name in ("feather", "flight", "json", "jvm", "orc", "substrait")),
    *(f"pyarrow/_{name}*.so" for name in ("acero", "azure", "csv", "dataset", "feather", "flight")),
    *(f"pyarrow/_{name}*.so" for name in ("gcs", "hdfs", "json", "orc", "s3fs", "substrait")),
    *("pyarrow/_parquet_encryption*.so", "pyarrow/parquet/encryption.py"),
    *("pyarrow/interchange", "pyarrow/src"),
    # The libraries behind them, and two further names of one that is loaded as *.so.2600.
    *("pyarrow/libarrow_flight.so*", "pyarrow/libarrow_s3.so*", "pyarrow/libarrow_python_*"),
    *("pyarrow/libarrow_python.so", "pyarrow/libarrow_python.so.*.*"),
    # Parts of numpy that it imports at their first use.
    *(f"numpy/{name}" for name in ("_pyinstaller", "doc", "f2py", "fft", "polynomial", "random")),
    *("numpy/testing", "numpy/_core/lib", "numpy/_core/_simd.*.so"),
    # Command lines, and the page by which powertools shows an API to people.
    *("kafka/cli", "kafka/benchmarks", "kafka/**/__main__.py", "aws_msk_iam_sasl_signer/cli.py"),
    "aws_lambda_powertools/event_handler/openapi/swagger_ui",
)
# Glue imports from a zip, which compiled modules cannot be in: faster twins of Python modules,
# which their packages do without.
_COMPILED_TWINS = ("markupsafe/_speedups.*",)
_COMPILED = ("**/*.so", "**/*.so.*", "**/*.pyd", "**/*.dylib", "**/*.dll")

# Lambda reads its files as another user, and CDK's zip has the modes of this machine.
_READABLE_BY_ALL = 0o644
_KEY_LENGTH = 16
_LONGEST_MESSAGE = 600


class PackagingError(Exception):
    """A package that cannot be built: one sentence says what failed, another what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """A Python version, as in "3.13", and an architecture in Lambda's words.

    pyarrow's wheels ask for a C library (glibc 2.28) that runtimes have from Python 3.12 on.
    """

    python: str = "3.13"
    architecture: Architecture = "arm64"

    @classmethod
    def here(cls) -> Self:
        """This interpreter on this machine: what a test can run, not what is deployed."""
        is_arm = platform.machine() in ("arm64", "aarch64")
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return cls(version, "arm64" if is_arm else "x86_64")

    def __str__(self) -> str:
        """Part of a folder's name: after a dot CDK would see a file's ending."""
        return f"py{self.python.replace('.', '')}-{self.architecture}"


@dataclass(frozen=True, slots=True)
class _Wheels:
    """Packages of uv.lock, chosen by options of `uv export`, for a target, less `pruned`."""

    target: Target
    chosen: tuple[str, ...]
    pruned: tuple[str, ...]
    compiled_allowed: bool = True


# The older of the Pythons in Glue's versions. Nothing compiled is left, so that the architecture
# only decides which wheel is installed. Glue lacks the packages of the group `page` alone.
_GLUE_WHEELS = _Wheels(
    Target("3.11", "x86_64"),
    ("--only-group", "page"),
    (*PRUNED, *_COMPILED_TWINS),
    compiled_allowed=False,
)


def build(target: Target | None = None, cache: Path = CACHE, *, project: Path = PROJECT) -> Path:
    """A folder with the functions and what they import, below `cache`, built there if need be.

    Nobody may write into it. Raises PackagingError when wheels cannot be installed or Lambda
    would refuse the size; then no folder is left.
    """
    target = target or Target()
    left_out = [
        each for name in _IN_THE_RUNTIME + _NOT_IMPORTED for each in ("--no-emit-package", name)
    ]
    wheels = _Wheels(target, ("--no-default-groups", *left_out), PRUNED)
    return _build(
        f"functions-{target}", wheels, _sources(project, "functions", "kafka_lag"), cache, project
    )


def glue_package(cache: Path = CACHE, *, project: Path = PROJECT) -> Path:
    """A folder with the Glue job, what it shares with the functions, and what Glue lacks.

    Raises PackagingError also when something of that is compiled.
    """
    library = _sources(project, "functions", "kafka_lag")
    shared = {name: path for name, path in library.items() if name.startswith(_SHARED_WITH_GLUE)}
    own = _sources(project, "glue_jobs", "kafka_lag_report") | shared
    return _build("glue-job", _GLUE_WHEELS, own, cache, project)


def find_uv() -> str | None:
    """Return the path of uv: on the PATH, from `make setup`, or beside this Python; else null."""
    folders = (ROOT / ".local" / "tools" / "bin", Path(sys.executable).parent)
    return shutil.which(
        "uv", path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)])
    )


def count_bytes(folder: Path) -> int:
    """Returns the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in _by_name(folder).values())


def _build(name: str, wheels: _Wheels, own: dict[str, Path], cache: Path, project: Path) -> Path:
    """The wheels are a folder of their own, so that changed sources need no package index."""
    lock = project / "uv.lock"
    if not lock.is_file():
        raise PackagingError(
            f"{lock} is missing, which says what to pack. Install the project from its wheel, or "
            "editable from its folder."
        )
    # A package built by other rules is another.
    key = _key([lock.read_bytes(), Path(__file__).read_bytes()])
    packages = cache / f"packages-{name}-{key}"
    contents = (part for each in sorted(own) for part in (each.encode(), own[each].read_bytes()))
    folder = cache / f"{name}-{_key([packages.name.encode(), *contents])}"
    if not folder.is_dir():
        if not packages.is_dir():
            with _becomes(packages) as draft:
                _install(wheels, draft, project)
        with _becomes(folder) as draft:
            shutil.copytree(packages, draft, copy_function=os.link, dirs_exist_ok=True)
            _copy(own, draft)
            _check_size(draft)
        _retain_latest(packages)
    _retain_latest(folder)
    return folder


def _install(wheels: _Wheels, folder: Path, project: Path) -> None:
    """Installs wheels of any machine by the lock file's hashes; nothing is built from source."""
    uv = find_uv()
    if uv is None:
        raise PackagingError(
            "Wheels are installed by uv, which is not there. Run make setup, or pip install uv."
        )
    target = wheels.target
    plain = ("--frozen", "--no-emit-project", "--no-header", "--no-annotate")
    export = subprocess.run(
        [uv, "export", "--quiet", *plain, *wheels.chosen],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    if export.returncode:
        raise PackagingError(
            f"uv cannot read {project / 'uv.lock'}: {_end_of(export.stderr)}. Run uv lock."
        )
    install = subprocess.run(
        [
            *(uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes"),
            *("--only-binary", ":all:", "--python-version", target.python),
            *("--python-platform", f"{_MACHINES[target.architecture]}-manylinux_2_28"),
            # Modes are changed below, and uv's links would change its cache.
            *("--link-mode", "copy", "--python", sys.executable),
            *("--target", str(folder), "--requirements", "-"),
        ],
        cwd=project,
        input=export.stdout,
        capture_output=True,
        text=True,
        check=False,
    )
    if install.returncode:
        raise PackagingError(
            f"The packages for Python {target.python} on {target.architecture} cannot be "
            f"installed: {_end_of(install.stderr)}. See that the package index can be reached "
            "and that uv.lock has wheels for this Python and architecture."
        )
    for path in [found for pattern in wheels.pruned for found in folder.glob(pattern)]:
        _remove(path)
    if not wheels.compiled_allowed:
        _check_pure(folder)
    for path in _by_name(folder).values():
        path.chmod(_READABLE_BY_ALL)


def _check_pure(folder: Path) -> None:
    left = {path for pattern in _COMPILED for path in folder.glob(pattern)}
    if left:
        names = ", ".join(sorted(path.relative_to(folder).as_posix() for path in left))
        raise PackagingError(
            f"Glue imports the job's packages from a zip, which compiled modules cannot be in: "
            f"{names}. Take a pure Python package, or, where it has a fallback in Python, name "
            f"the module in {Path(__file__).name}."
        )


def _check_size(folder: Path) -> None:
    size = count_bytes(folder)
    if size > UNPACKED_LIMIT:
        raise PackagingError(
            f"The package has {_mb(size)} unpacked, more than the {_mb(UNPACKED_LIMIT)} that "
            f"Lambda takes. Prune more in {Path(__file__).name}."
        )


def _sources(project: Path, root: str, package: str) -> dict[str, Path]:
    """A package's files by their names in an asset: of a clone's source root, or as installed."""
    if (project / root).is_dir():
        return _files(project / root)
    files = _files(Path(__file__).parents[1] / package)
    return {f"{package}/{name}": path for name, path in files.items()}


def _files(sources: Path) -> dict[str, Path]:
    """The files below a source root by their names in a package, without what nobody imports."""
    return {
        name: path
        for name, path in _by_name(sources).items()
        if not path.name.startswith(".")
        and path.name != "py.typed"
        and path.parent.name != "__pycache__"
    }


def _by_name(folder: Path) -> dict[str, Path]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in files}


def _copy(files: dict[str, Path], folder: Path) -> None:
    for name, path in files.items():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(_READABLE_BY_ALL)


@contextmanager
def _becomes(folder: Path) -> Iterator[Path]:
    """An empty folder to fill; it becomes `folder` whole at the end, or goes away on an error."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside the result, as the folder for temporary files is often kept in memory.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as place:
        draft = Path(place, "draft")
        draft.mkdir()
        yield draft
        try:
            draft.rename(folder)
        except OSError:
            # Another process may have built the same in the meantime.
            if not folder.is_dir():
                raise


def _retain_latest(used: Path) -> None:
    """Removes all but those last used of the folders that differ from `used` in their inputs."""
    used.touch()
    kind, _, _ = used.name.rpartition("-")
    alike = sorted(used.parent.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime_ns)
    for path in alike[:-_FOLDERS_RETAINED]:
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _key(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:_KEY_LENGTH]


def _end_of(message: str) -> str:
    """The end of what uv wrote, on one line; without the hashes that it lists in it."""
    words = [word for word in message.split() if not word.startswith("sha256:")]
    return " ".join(words)[-_LONGEST_MESSAGE:].rstrip(". ")


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


if __name__ == "__main__":
    made = build()
    print(f"{made}\n{_mb(count_bytes(made))} unpacked; Lambda takes {_mb(UNPACKED_LIMIT)}")
