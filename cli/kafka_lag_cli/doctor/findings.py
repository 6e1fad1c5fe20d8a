# SPDX-License-Identifier: Apache-2.0
"""Findings of `doctor`: a check, its severity, and the line that repairs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from kafka_lag_cli.account.errors import AwsError

Severity: TypeAlias = Literal["ok", "info", "warning", "fault", "unknown"]

# From what needs somebody first to what needs nobody. "unknown" is a check that was not made.
SEVERITIES: Final[tuple[Severity, ...]] = ("fault", "warning", "unknown", "info", "ok")

# Exit codes; the second is also that of `show --fail-on` for what is not known.
FAULTY, NOT_CHECKED = 1, 4


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


def exit_code(findings: Iterable[Finding]) -> int:
    """1 if there is a fault, else 4 if a check was not made, else 0."""
    found = {finding.severity for finding in findings}
    return FAULTY if "fault" in found else NOT_CHECKED if "unknown" in found else 0


def collect_findings(check: str, found: Iterable[Finding]) -> list[Finding]:
    """Return a check's findings up to the first error of AWS."""
    findings = []
    try:
        for finding in found:
            findings.append(finding)  # noqa: PERF402 - what came before an error counts
    except AwsError as error:
        findings.append(not_made(check, error))
    return findings


def not_looked_at(*checks: str, because: str) -> list[Finding]:
    """Checks that were not made because of what another one found."""
    return [Finding(check, "unknown", f"not looked at, because of {because}") for check in checks]


def not_made(check: str, error: AwsError) -> Finding:
    """A check that AWS did not let us make."""
    why = f"Not looked at: let somebody allow {error.right}." if error.denied else "Not looked at."
    return Finding(check, "unknown", str(error), why)
