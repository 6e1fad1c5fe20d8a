# SPDX-License-Identifier: Apache-2.0
"""The collector's package as CDK takes it, built once for all clusters of a kind."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import aws_lambda as lambda_

from kafka_lag_cdk.packaging import Target, build
from kafka_lag_config.settings import Function

RUNTIMES = {"3.13": lambda_.Runtime.PYTHON_3_13, "3.14": lambda_.Runtime.PYTHON_3_14}
ARCHITECTURES = {
    "arm64": lambda_.Architecture.ARM_64,
    "x86_64": lambda_.Architecture.X86_64,
}


def collector_code(settings: Function, package: Path | None) -> lambda_.Code:
    """Returns the given package, or one built for this runtime; installs wheels the first time.

    Raises PackagingError when they cannot be. CDK wants a new object for every stack.
    """
    target = Target(python=settings.python, architecture=settings.architecture)
    return lambda_.Code.from_asset(str(package or build(target)))
