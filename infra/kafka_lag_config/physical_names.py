# SPDX-License-Identifier: Apache-2.0
"""Names under which a deployment's things are found in an account; without CDK."""

from __future__ import annotations

import hashlib

# CloudWatch takes no longer name of an alarm [botocore cloudwatch PutMetricAlarm].
_LONGEST_ALARM = 255
_DIGEST = 12

# Log groups of the daily report, below its prefix.
OUTPUT, ERROR = "output", "error"

# Rules of the bucket's lifecycle that are named after no prefix.
ABANDONED_UPLOADS = "abandoned-uploads"


def alarm_name(deployment: str, cluster: str, *parts: str) -> str:
    """`<deployment>/<cluster>/<part>...`, as policies of scaling are named too.

    A name that would be too long ends in '%~' and a digest, which no other name can end in.
    """
    name = "/".join((deployment, cluster, *parts))
    if len(name) <= _LONGEST_ALARM:
        return name
    return f"{name[: _LONGEST_ALARM - _DIGEST - 2]}%~{digest(name)}"


def report_logs(deployment: str) -> str:
    """The prefix of the daily report's log groups, which Glue gets as an argument."""
    return f"/{deployment}/daily-report"


def report_log_group(deployment: str, kind: str) -> str:
    """The log group of `OUTPUT` or `ERROR`."""
    return f"{report_logs(deployment)}/{kind}"


def digest(text: str) -> str:
    """Twelve hexadecimal digits that stay the same."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
