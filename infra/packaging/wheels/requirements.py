# SPDX-License-Identifier: Apache-2.0
"""`functions/requirements.txt`: of the lock file, what the functions bring to Lambda themselves.

boto3 and what it needs come with Lambda's Python. jmespath does too, only there it belongs to
boto3: powertools imports it, so it is held to the version that was tested.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from packaging.requirements import Requirement

from infra.packaging.target import PackagingError, Target
from infra.packaging.wheels.fetch import find_program

NAME = "requirements.txt"
COMMAND = "python -m infra.packaging lock"

IN_THE_RUNTIME = ("boto3", "botocore", "python-dateutil", "s3transfer", "six", "urllib3")

# The IAM signer's command line alone imports it.
NOT_IMPORTED = ("click",)

_HEADER = f"""\
# What the functions need beside Lambda's Python, with the versions and hashes of uv.lock.
# Written by: {COMMAND}
"""


def exported(project: Path) -> str:
    """The file's text as uv.lock in the folder `project` has it. Raises PackagingError."""
    uv = find_program("uv")
    if uv is None:
        raise PackagingError("uv.lock is read by uv, which is not installed: run make setup.")
    left_out = [w for name in IN_THE_RUNTIME + NOT_IMPORTED for w in ("--no-emit-package", name)]
    plain = ["--no-dev", "--no-emit-project", "--no-header", "--no-annotate"]
    command = [uv, "export", "--quiet", "--frozen", *plain, *left_out]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PackagingError(f"uv could not read {project / 'uv.lock'}: {done.stderr.strip()}")
    return _HEADER + done.stdout


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
