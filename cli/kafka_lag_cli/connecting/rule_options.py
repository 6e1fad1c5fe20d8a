# SPDX-License-Identifier: Apache-2.0
"""The rules as options of a command line, with the limits of the configuration document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import click

from kafka_lag.lag.group_settings import EARLIEST, ByName, Rules, Tolerance
from kafka_lag.settings import DEFAULTS
from kafka_lag_cdk.config.window import (
    DEFAULT_WINDOW,
    WINDOW_EXPECTED,
    WINDOW_PATTERN,
    find_count_fault,
    find_window_fault,
    parse_window,
)
from kafka_lag_cli.help_sections import add_options, option

# RE is found anywhere in a name; options with RE may be repeated, the first that fits wins.
SECTION: Final = "meaning of numbers (RE: unanchored, repeatable, the first that fits wins)"
_HOUR_MS = 3_600_000


def rules_of(options: Mapping[str, Any], interval_seconds: float = 60.0) -> Rules:
    """The rules of runs that are so far apart; no name is filtered."""
    interval_ms = round(interval_seconds * 1000)
    return Rules(
        interval_ms=interval_ms,
        window_ms=_window_ms(options["window"], interval_seconds),
        uncommitted=_joined(options["uncommitted_earliest"]),
        allowed_lag=_joined(options["allowed_lag"]),
        owners=_joined(options["owned_by"]),
        sla_seconds=_joined(options["sla_seconds"]),
        hold=options["hold"],
        tolerance=Tolerance(floor_ms=round(options["tolerance"] * 1000)),
        lookup_budget=options["lookup_budget"],
        risk_horizon_ms=round(options["risk_horizon"] * _HOUR_MS),
        ignore_inactive=options["ignore_inactive"],
    )


def _window_ms(text: str | None, interval_seconds: float) -> int:
    """The window of runs so far apart. Raises click.UsageError for one that does not fit them."""
    if text is not None:
        fault = find_count_fault(text, interval_seconds)
        if fault is None and not re.fullmatch(WINDOW_PATTERN, text):
            fault = f"{WINDOW_EXPECTED}, not {text!r}"
        fault = fault or find_window_fault(text, interval_seconds)
        if fault:
            raise click.UsageError(f"--window: {fault}")
    return parse_window(text, interval_seconds)


def _number(
    name: str,
    key: tuple[str, float],
    parse: Callable[[str], float],
    unit: str,
    meaning: str,
) -> Callable[[Any], Any]:
    path, default = key
    written = f"{default:g}"

    def number(text: str) -> Any:
        value = _parse(parse, text)
        return value if text == written else _check(path, value, text)

    return option(
        name,
        type=number,
        default=written,
        metavar=unit,
        help=f"{meaning} ({written})",
        section=SECTION,
    )


def _choice(
    name: str, key: str, parse: Callable[[str], Any], value: str, meaning: str
) -> Callable[[Any], Any]:
    def choice(text: str) -> Any:
        # An expression may hold a =, a value none.
        expression, sign, chosen = text.rpartition("=")
        if not sign:
            raise click.BadParameter(f"{text!r} must be RE={value}")
        return _check(key, {expression: _parse(parse, chosen)}, text)

    return _repeated(name, choice, f"RE={value}", meaning)


def _earliest(text: str) -> Any:
    return _check("uncommitted", {text: EARLIEST}, text)


def _repeated(
    name: str, parse: Callable[[str], Any], shown: str, meaning: str
) -> Callable[[Any], Any]:
    return option(name, type=parse, multiple=True, metavar=shown, help=meaning, section=SECTION)


def _parse(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        kind = "a whole number" if parse is int else "a number"
        raise click.BadParameter(f"{text!r} is not {kind}") from error


def _check(path: str, value: Any, text: str) -> Any:
    """A value as the key of a configuration takes it; a key of a section is `section.key`."""
    # The model costs the start of those alone who change a rule.
    from kafka_lag_cdk.config.document import CollectorKeys  # noqa: PLC0415
    from kafka_lag_cdk.config.strict import validate  # noqa: PLC0415

    section, _, key = path.rpartition(".")
    found, faults = validate(CollectorKeys, {section: {key: value}} if section else {key: value})
    if found is None:
        raise click.BadParameter(f"{text!r}: {faults[0].sentence}")
    return getattr(getattr(found, section) if section else found, key)


def _joined(chosen: Iterable[dict[str, Any]]) -> ByName[Any]:
    return ByName.of(choice for one in chosen for choice in one.items())


_RULES = DEFAULTS.rules
_HOLD = ("hold", _RULES.hold)
_TOLERANCE = ("tolerance.seconds", _RULES.tolerance.floor_ms / 1000)
_LOOKUP_BUDGET = ("lookup_budget", _RULES.lookup_budget)
_RISK_HORIZON = ("risk_horizon_hours", _RULES.risk_horizon_ms / _HOUR_MS)
rule_options = add_options(
    _choice("--allowed-lag", "allowed_lag", int, "N", "topics: a lag of N or less counts as none"),
    _repeated(
        "--uncommitted-earliest", _earliest, "RE", "groups: without a commit count from log start"
    ),
    _choice("--owned-by", "owner", str, "NAME", "groups: their owner"),
    _choice("--sla-seconds", "sla_seconds", float, "S", "groups: longest time lag allowed, s"),
    _number(
        "--hold",
        _HOLD,
        int,
        "N",
        "runs that a status must last to be the held one: more hide short troubles, and show those "
        "that last later",
    ),
    option(
        "--window",
        metavar="TIME",
        help=f"after it a commit that stands is stuck; three intervals at least ({DEFAULT_WINDOW})",
        section=SECTION,
    ),
    _number(
        "--tolerance",
        _TOLERANCE,
        float,
        "S",
        "seconds that an age may be off: fewer cost the brokers more look-ups by time",
    ),
    _number(
        "--lookup-budget",
        _LOOKUP_BUDGET,
        int,
        "N",
        "most look-ups by time in a run: fewer spare the brokers and leave ages with wider errors; "
        "with 0 they come from earlier runs alone",
    ),
    _number(
        "--risk-horizon", _RISK_HORIZON, float, "H", "hours: a loss nearer than this is a risk"
    ),
    option(
        "--ignore-inactive",
        is_flag=True,
        help="do not count topics that a group has left",
        section=SECTION,
    ),
)
