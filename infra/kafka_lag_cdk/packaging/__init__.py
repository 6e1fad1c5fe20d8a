# SPDX-License-Identifier: Apache-2.0
"""The zips that AWS runs: the functions with their dependencies, and the Glue job's modules."""

from kafka_lag_cdk.packaging.archive import Package
from kafka_lag_cdk.packaging.build import build, glue_package
from kafka_lag_cdk.packaging.target import PackagingError, Target

__all__ = ["Package", "PackagingError", "Target", "build", "glue_package"]
