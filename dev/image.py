# SPDX-License-Identifier: Apache-2.0
"""The image of the exporter without a daemon: each step of its Dockerfile in a bare Debian.

A stage begins as Debian with Python in place of the image that FROM names, RUN runs in it by
chroot, and the ENTRYPOINT starts at the end as the user, and with the environment, of the last
stage; its root is read-only as in the chart. Needs root, debootstrap, and Debian's packages.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "examples" / "exporter" / "Dockerfile"
_BASE_PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"
_RELEASE = "bookworm"
# How this machine reaches registries of packages.
_FROM_HERE = ("PIP_", "UV_", "HTTP_", "HTTPS_", "http_", "https_", "NO_PROXY", "SSL_")
_FILES_FROM_HERE = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt")
# Debian's pip has to be allowed to change the system's Python; the image's does not.
_AS_IN_THE_IMAGE = {"PIP_BREAK_SYSTEM_PACKAGES": "1"}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_URL = "http://127.0.0.1:8000/metrics"
_LONGEST_START = 120.0
_TMP = "/tmp"  # noqa: S108  # of the image


@dataclass(slots=True)
class Stage:
    """One FROM with its steps: instruction and argument."""

    base: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)


def parse_dockerfile(text: str) -> list[Stage]:
    """The stages in their order. Raises ValueError for a step before the first."""
    stages: list[Stage] = []
    for line in _logical_lines(text):
        instruction, _, argument = line.partition(" ")
        instruction, argument = instruction.upper(), argument.strip()
        if instruction == "FROM":
            base, _, name = argument.partition(" AS ")
            stages.append(Stage(base.strip(), name.strip() or str(len(stages))))
        elif not stages:
            raise ValueError(f"{instruction} stands before the first FROM.")
        else:
            stages[-1].steps.append((instruction, argument))
    return stages


def _logical_lines(text: str) -> Iterator[str]:
    pending = ""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        pending += line.removesuffix("\\")
        if not line.endswith("\\"):
            yield pending
            pending = ""


@dataclass(slots=True)
class Image:
    """A stage as a folder, and what a container of it would be started with."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    directory: str = "/"
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)

    def command(self, words: Sequence[str], *, read_only: bool = False) -> list[str]:
        """What runs these words in it, with a /proc of its own."""
        root = shlex.quote(str(self.folder))
        lines = [f"mount -t proc proc {root}/proc", f"mount -t tmpfs tmpfs {root}{_TMP}"]
        if read_only:
            state = f"{root}/state"
            lines += [f"mount --bind {root} {root}", f"mount -t tmpfs tmpfs {root}{_TMP}"]
            lines += [f"mount -t tmpfs -o uid=10001,gid=10001 tmpfs {state}"]
            lines += [f"mount -o remount,ro,bind {root}"]
        inside = f"cd {shlex.quote(self.directory)} && exec {shlex.join(words)}"
        lines.append(f"exec chroot --userspec={self.user} {root} /bin/sh -c {shlex.quote(inside)}")
        return ["unshare", "--mount", "sh", "-ec", "\n".join(lines)]


def build_image(stages: Sequence[Stage], base: Path, work: Path) -> Image:
    """The last stage; `base` is Debian. Raises CalledProcessError where a step fails."""
    built: dict[str, Image] = {}
    for stage in stages:
        folder = work / stage.name
        subprocess.run(["cp", "-a", str(base), str(folder)], check=True)
        image = built[stage.name] = Image(folder, {"PATH": _PATH})
        for instruction, argument in stage.steps:
            print(f"{stage.name}: {instruction} {argument}", flush=True)
            _take(instruction, argument, image, built)
    return image


def _take(instruction: str, argument: str, image: Image, built: Mapping[str, Image]) -> None:
    match instruction:
        case "RUN":
            here = {k: v for k, v in os.environ.items() if k.startswith(_FROM_HERE)}
            environ = here | _AS_IN_THE_IMAGE | image.environ
            subprocess.run(image.command(["sh", "-c", argument]), env=environ, check=True)
        case "COPY":
            _copy(shlex.split(argument), image, built)
        case "ENV":
            for word in shlex.split(argument):
                name, _, value = word.partition("=")
                image.environ[name] = Template(value).safe_substitute(image.environ)
        case "WORKDIR":
            image.directory = argument
            (image.folder / argument.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "USER":
            image.user = argument
        case "ENTRYPOINT":
            image.entrypoint = [word.strip(' "') for word in argument.strip("[]").split(",")]
        case "EXPOSE" | "VOLUME":
            pass
        case _:
            raise ValueError(f"{instruction} is not known here.")


def _copy(words: Sequence[str], image: Image, built: Mapping[str, Image]) -> None:
    source = ROOT
    if words[0].startswith("--from="):
        source, words = built[words[0].removeprefix("--from=")].folder, words[1:]
    *names, target = words
    into = image.folder / Path(image.directory, target).as_posix().lstrip("/")
    for name in names:
        path = source / name.lstrip("/")
        to = into / path.name if target.endswith("/") else into
        if path.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, into, symlinks=True, dirs_exist_ok=True, ignore=ignored)
        else:
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


def make_base(folder: Path) -> None:
    """Debian with Python, and this machine's way to registries of packages."""
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={_BASE_PACKAGES}", _RELEASE, str(folder)],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _add_files_from_here(folder: Path) -> None:
    for name in _FILES_FROM_HERE:
        if Path(name).exists():
            shutil.copy2(name, folder / name.lstrip("/"))


def first_lag_after(image: Image, arguments: Sequence[str]) -> float:
    """Seconds from the start of the container to a lag at /metrics, which ends then.

    Raises TimeoutError.
    """
    began = time.monotonic()
    words = [*image.entrypoint, *arguments]
    command = image.command(words, read_only=True)
    with subprocess.Popen(command, env=image.environ) as process:
        try:
            while time.monotonic() - began < _LONGEST_START and process.poll() is None:
                if "\nkafka_lag_group_lag{" in _scrape():
                    return time.monotonic() - began
                time.sleep(0.1)
        finally:
            process.terminate()
    raise TimeoutError(f"There was no lag within {_LONGEST_START:.0f} seconds.")


def _scrape() -> str:
    try:
        with urllib.request.urlopen(_URL, timeout=5) as answer:  # this machine's
            return str(answer.read(), "utf-8")
    except (urllib.error.URLError, OSError):
        return ""


def main(argv: Sequence[str] | None = None) -> int:
    """Builds, prints the version, and with options of `kafka-lag serve` waits for a lag."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--base", type=Path, help="a bare Debian of debootstrap's, made before")
    parser.add_argument("--work", type=Path, default=ROOT / ".local" / "image")
    parser.add_argument("serve", nargs="*", help="after --: options of kafka-lag serve")
    options = parser.parse_args(argv)
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    base = options.base or options.work / "base"
    if options.base is None:
        make_base(base)
    _add_files_from_here(base)
    image = build_image(parse_dockerfile(DOCKERFILE.read_text()), base, options.work)
    version = image.command(["kafka-lag", "--version"], read_only=True)
    subprocess.run(version, env=image.environ, check=True)
    if options.serve:
        print(f"first lag after {first_lag_after(image, options.serve):.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
