# SPDX-License-Identifier: Apache-2.0
"""The rules as options of a command line, with the limits of the configuration document."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from marshmallow import ValidationError, fields

from kafka_lag.lag.rules import EARLIEST, ByName, Rules, Tolerance
from kafka_lag.schema.document import DocumentSchema, ToleranceSchema

_HOUR_MS = 3_600_000


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `rules_of` reads."""
    keys = DocumentSchema().fields
    group = parser.add_argument_group(
        "meaning of numbers",
        "RE is found anywhere in a name; options with RE may be repeated, the first that fits wins",
    )
    _add_choice(group, "--allowed-lag", keys["allowed_lag"], int, "N", "topics: so few are no lag")
    _add_earliest(group, keys["uncommitted"])
    _add_choice(group, "--owner", keys["owner"], str, "NAME", "groups: who looks after them")
    _add_choice(group, "--sla-seconds", keys["sla_seconds"], float, "S", "groups: age promised")
    _add_number(group, "--hold", keys["hold"], int, "N", "runs until a status is held")
    _add_number(group, "--window", keys["window"], int, "N", "runs until unmoved is stuck")
    seconds = ToleranceSchema().fields["seconds"]
    _add_number(group, "--tolerance", seconds, float, "S", "error of a time lag to search on from")
    budget, horizon = keys["lookup_budget"], keys["risk_horizon_hours"]
    _add_number(group, "--lookup-budget", budget, int, "N", "times that a run may ask brokers for")
    _add_number(group, "--risk-horizon", horizon, float, "HOURS", "a nearer loss is a risk")
    group.add_argument(
        "--ignore-inactive", action="store_true", help="do not count topics that a group has left"
    )


def rules_of(told: argparse.Namespace, interval_seconds: float = 60.0) -> Rules:
    """The rules of runs that are so far apart; no name is filtered."""
    interval_ms = round(interval_seconds * 1000)
    return Rules(
        interval_ms=interval_ms,
        window_ms=told.window * interval_ms,
        uncommitted=_joined(told.uncommitted_earliest),
        allowed_lag=_joined(told.allowed_lag),
        owners=_joined(told.owner),
        sla_seconds=_joined(told.sla_seconds),
        hold=told.hold,
        tolerance=Tolerance(floor_ms=round(told.tolerance * 1000)),
        lookup_budget=told.lookup_budget,
        risk_horizon_ms=round(told.risk_horizon * _HOUR_MS),
        ignore_inactive=told.ignore_inactive,
    )


def _add_number(
    group: argparse._ArgumentGroup,
    option: str,
    key: fields.Field[Any],
    parse: Callable[[str], float],
    unit: str,
    meaning: str,
) -> None:
    def number(text: str) -> Any:
        return _checked(key, _parsed(parse, text), text)

    default = key.load_default
    told = f"{meaning} ({default:g})"
    group.add_argument(option, type=number, default=default, metavar=unit, help=told)


def _add_choice(
    group: argparse._ArgumentGroup,
    option: str,
    key: fields.Field[Any],
    parse: Callable[[str], Any],
    value: str,
    meaning: str,
) -> None:
    def choice(text: str) -> Any:
        # An expression may hold a =, a value none.
        expression, sign, chosen = text.rpartition("=")
        if not sign:
            raise argparse.ArgumentTypeError(f"{text!r} must be RE={value}")
        return _checked(key, {expression: _parsed(parse, chosen)}, text)

    _add_repeated(group, option, choice, f"RE={value}", meaning)


def _add_earliest(group: argparse._ArgumentGroup, key: fields.Field[Any]) -> None:
    def earliest(text: str) -> Any:
        return _checked(key, {text: EARLIEST}, text)

    meaning = "groups: lag from the log start where they never committed"
    _add_repeated(group, "--uncommitted-earliest", earliest, "RE", meaning)


def _add_repeated(
    group: argparse._ArgumentGroup,
    option: str,
    kind: Callable[[str], Any],
    shown: str,
    meaning: str,
) -> None:
    group.add_argument(option, type=kind, action="append", default=[], metavar=shown, help=meaning)


def _parsed(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        kind = "a whole number" if parse is int else "a number"
        raise argparse.ArgumentTypeError(f"{text!r} is not {kind}") from error


def _checked(key: fields.Field[Any], value: Any, text: str) -> Any:
    try:
        return key.deserialize(value)
    except ValidationError as error:
        fault = error.messages
        while isinstance(fault, dict):
            fault = next(iter(fault.values()))
        worded = fault[0][0].lower() + fault[0][1:].rstrip(".")
        raise argparse.ArgumentTypeError(f"{text!r}: {worded}") from error


def _joined(chosen: Iterable[ByName[Any]]) -> ByName[Any]:
    return ByName(tuple(choice for one in chosen for choice in one.choices))
