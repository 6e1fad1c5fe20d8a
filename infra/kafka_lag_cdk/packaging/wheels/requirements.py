# SPDX-License-Identifier: Apache-2.0
"""`requirements.txt` of the functions and of the Glue job: what they bring along, by uv.lock.

boto3 and what it needs come with Lambda's Python. jmespath does too, only there it belongs to
boto3: powertools imports it, so it is held to the version that was tested. Of the project's
packages Glue lacks those of the group `page`, and nothing that they need.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from kafka_lag_cdk.packaging.target import PackagingError, Target
from kafka_lag_cdk.packaging.wheels.fetch import find_program

NAME = "requirements.txt"
COMMAND = "python -m kafka_lag_cdk.packaging lock"

IN_THE_RUNTIME = ("boto3", "botocore", "python-dateutil", "s3transfer", "six", "urllib3")

# The IAM signer's command line alone imports click, ours alone the others: rich, and tomlkit and
# pydantic with what it needs, which read and check a configuration before a function does.
NOT_IMPORTED = (
    *("click", "rich", "markdown-it-py", "mdurl", "pygments"),
    *("pydantic", "pydantic-core", "annotated-types", "typing-inspection", "tomlkit"),
)


@dataclass(frozen=True, slots=True)
class Shipped:
    """Whose requirements they are, beside what, and uv's options that choose them."""

    whose: str
    beside: str
    chosen: tuple[str, ...]

    @property
    def header(self) -> str:
        """The first lines of the file."""
        return (
            f"# What {self.whose} beside {self.beside}, with the versions and hashes of uv.lock.\n"
            f"# Written by: {COMMAND}\n"
        )


OF_FUNCTIONS = Shipped(
    "the functions need",
    "Lambda's Python",
    (
        "--no-default-groups",
        *(w for name in IN_THE_RUNTIME + NOT_IMPORTED for w in ("--no-emit-package", name)),
    ),
)
OF_GLUE_JOB = Shipped("the daily report needs", "Glue's Python", ("--only-group", "page"))


def exported(project: Path, shipped: Shipped = OF_FUNCTIONS) -> str:
    """A file's text as uv.lock in the folder `project` has it. Raises PackagingError."""
    uv = find_program("uv")
    if uv is None:
        raise PackagingError("uv.lock is read by uv, which is not installed: run make setup.")
    plain = ["--no-emit-project", "--no-header", "--no-annotate"]
    command = [uv, "export", "--quiet", "--frozen", *plain, *shipped.chosen]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PackagingError(f"uv could not read {project / 'uv.lock'}: {done.stderr.strip()}")
    return shipped.header + done.stdout


def for_target(text: str, target: Target) -> str:
    """The requirements that hold for the target, their conditions decided and taken away.

    pip would decide them for the Python it runs in, even when it fetches for another.
    """
    environment = {
        "sys_platform": "linux",
        "platform_machine": target.machine,
        "python_version": target.python,
        "python_full_version": f"{target.python}.0",
    }
    lines = []
    for line in text.replace("\\\n", " ").splitlines():
        stated, *hashes = line.split(" --hash=")
        if not stated.strip() or stated.startswith("#"):
            continue
        requirement = Requirement(stated)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            requirement.marker = None
            lines.append(" --hash=".join([str(requirement), *(h.strip() for h in hashes)]))
    return "\n".join(lines) + "\n"
