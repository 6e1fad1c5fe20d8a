# SPDX-License-Identifier: Apache-2.0
"""The way this copy was installed (PEP 610), and the command that adds an extra to it.

Its name belongs to nobody on an index, where anybody may register it: no command names it alone.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

_NAME = "msk-lag-reporter"
# Folders of uv's cache in which `uvx` makes environments that last for a call.
_FOR_A_CALL = re.compile(r"(?:archive|environments)-v\d+")


@dataclass(frozen=True, slots=True)
class Installation:
    """An installer's record of this copy."""

    # PEP 610's direct_url.json; null for a copy from an index, and for one that is not installed.
    direct_url: dict[str, Any] | None
    installer: str
    prefix: Path
    python: str

    def add_extra(self, extra: str) -> str | None:
        """A command for the shell; null if where it came from is unknown or no longer there."""
        if self.direct_url is None or _is_gone(self.direct_url["url"]):
            return None
        receipt = self._receipt()
        extras = ",".join(sorted({extra, *_extras(receipt)}))
        requirement = _requirement(self.direct_url, extras)
        if receipt is not None:
            return shlex.join(["uv", "tool", "install", *requirement])
        if any(_FOR_A_CALL.fullmatch(part) for part in self.prefix.parts):
            return shlex.join(["uvx", "--from", *requirement, "kafka-lag"])
        if self.installer == "uv":
            at = ["--python", str(self.prefix)]
            return shlex.join(["uv", "pip", "install", *at, *requirement])
        return shlex.join([self.python, "-m", "pip", "install", *requirement])

    def _receipt(self) -> str | None:
        """Return the record of `uv tool install`; null for an environment of another kind."""
        try:
            return (self.prefix / "uv-receipt.toml").read_text()
        except OSError:
            return None


def find_installation() -> Installation:
    """This process's own."""
    try:
        found = distribution(_NAME)
    except PackageNotFoundError:
        return Installation(None, "", Path(sys.prefix), sys.executable)
    written = found.read_text("direct_url.json")
    return Installation(
        direct_url=json.loads(written) if written else None,
        installer=(found.read_text("INSTALLER") or "").strip(),
        prefix=Path(sys.prefix),
        python=sys.executable,
    )


def _extras(receipt: str | None) -> list[str]:
    """The extras that a tool has, which installing it again would take away."""
    requirements = tomllib.loads(receipt or "").get("tool", {}).get("requirements", [])
    return [
        extra for each in requirements if each["name"] == _NAME for extra in each.get("extras", [])
    ]


def _requirement(direct_url: dict[str, Any], extras: str) -> list[str]:
    """The words that name the copy's source with extras to pip and uv."""
    url = _without_login(direct_url["url"])
    if direct_url.get("dir_info", {}).get("editable"):
        return ["--editable", f"{_path(url)}[{extras}]"]
    if found := direct_url.get("vcs_info"):
        url = f"{found['vcs']}+{url}@{found['commit_id']}"
    within = direct_url.get("subdirectory")
    return [f"{_NAME}[{extras}] @ {url}" + (f"#subdirectory={within}" if within else "")]


def _is_gone(url: str) -> bool:
    return url.startswith("file:") and not Path(_path(url)).exists()


def _path(url: str) -> str:
    return url2pathname(urlsplit(url).path)


def _without_login(url: str) -> str:
    return re.sub(r"^(https?://)[^/]*@", r"\1", url)
