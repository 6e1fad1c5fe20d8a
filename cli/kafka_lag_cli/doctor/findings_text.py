# SPDX-License-Identifier: Apache-2.0
"""Findings on a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.text import Text

from kafka_lag_cli.doctor.findings import SEVERITIES, Finding, Severity

_COLOURS: Final[dict[Severity, str]] = {
    "fault": "bold red",
    "warning": "yellow",
    "unknown": "magenta",
    "info": "cyan",
    "ok": "green",
}
_INDENT = "    "


def print_findings(findings: Sequence[Finding], screen: Console) -> None:
    """A line a check, then those that need somebody with what follows and what repairs them.

    A line that repairs something stands alone and is never wrapped, so that it can be copied.
    """
    severity_width = max(map(len, SEVERITIES))
    check_width = max((len(finding.check) for finding in findings), default=0)
    for (severity, what, _), some in groupby(findings, key=_line_key):
        checks = [each.check for each in some]
        # Checks that were not made for one reason are one line.
        said = f"{checks[0].ljust(check_width)}  {what}"
        if len(checks) > 1:
            said = f"{what}: {', '.join(checks)}"
        line = Text.assemble((severity.ljust(severity_width), _COLOURS[severity]), f"  {said}")
        screen.print(line, soft_wrap=True)
    for severity in SEVERITIES:
        for each in findings:
            if each.severity == severity and (each.why or each.repair):
                _print_details(each, screen)


def _line_key(finding: Finding) -> tuple[Severity, str, str]:
    """Return the key that findings on one line share; unknown ones without reason share one."""
    is_alike = finding.severity == "unknown" and not finding.why
    return finding.severity, finding.what, "" if is_alike else finding.check


def _print_details(finding: Finding, screen: Console) -> None:
    screen.print()
    heading = (finding.severity.upper(), _COLOURS[finding.severity])
    screen.print(Text.assemble(heading, f" {finding.check}: {finding.what}"), soft_wrap=True)
    if finding.why:
        screen.print(Text(finding.why), soft_wrap=True)
    if finding.repair:
        screen.print(Text(f"{_INDENT}{finding.repair}"), soft_wrap=True)
