# SPDX-License-Identifier: Apache-2.0
"""What `doctor` finds, whoever looked: a check, how bad it is, and the line that repairs it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Final, Literal, TypeAlias

from rich.console import Console
from rich.text import Text

Severity: TypeAlias = Literal["ok", "info", "warning", "fault", "unknown"]

# From what needs somebody first to what needs nobody. "unknown" is a check that was not made.
SEVERITIES: Final[tuple[Severity, ...]] = ("fault", "warning", "unknown", "info", "ok")


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check, or one of its outcomes.

    `check` names what was looked at ("TCP", "rights on topics"); several findings may have the
    same. `what` is one line that says what is so, and `why` what follows from it and what to do in
    words, empty where nothing does. `repair` is one line for a shell, or one option or key to
    write as it is, and None where there is no such line. For severity "unknown" `what` says why
    the check could not be made. Strangers' names in all three are escaped already.
    """

    check: str
    severity: Severity
    what: str
    why: str = ""
    repair: str | None = None


def has_fault(findings: Iterable[Finding]) -> bool:
    """Whether any is a fault, which is the exit code 1."""
    return any(finding.severity == "fault" for finding in findings)


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


def findings_json(findings: Iterable[Finding]) -> str:
    """An array of objects with the fields of a finding; `repair` is null where there is none."""
    return json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False)


def _line_key(finding: Finding) -> tuple[Severity, str, str]:
    """What is the same for findings on one line, which those not made alone may be."""
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
