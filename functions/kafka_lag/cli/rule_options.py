# SPDX-License-Identifier: Apache-2.0
"""The rules as options of a command line, with the limits of the configuration document."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from kafka_lag.lag.group_settings import EARLIEST, ByName, Rules, Tolerance
from kafka_lag_cdk.config.document import CollectorKeys, ToleranceSection
from kafka_lag_cdk.config.strict import Strict, validate

_HOUR_MS = 3_600_000


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `rules_of` reads."""
    group = parser.add_argument_group(
        "meaning of numbers",
        "RE is found anywhere in a name; options with RE may be repeated, the first that fits wins",
    )
    _add_choice(group, "allowed_lag", int, "N", "topics: so few are no lag")
    _add_earliest(group)
    _add_choice(group, "owner", str, "NAME", "groups: who looks after them")
    _add_choice(group, "sla_seconds", float, "S", "groups: age promised")
    keys = CollectorKeys
    _add_number(group, "--hold", (keys, "hold"), int, "N", "runs until a status is held")
    _add_number(group, "--window", (keys, "window"), int, "N", "runs until unmoved is stuck")
    seconds, budget = (ToleranceSection, "seconds"), (keys, "lookup_budget")
    _add_number(group, "--tolerance", seconds, float, "S", "error of a time lag to search on from")
    _add_number(group, "--lookup-budget", budget, int, "N", "times that a run may ask brokers for")
    horizon = (keys, "risk_horizon_hours")
    _add_number(group, "--risk-horizon", horizon, float, "HOURS", "a nearer loss is a risk")
    group.add_argument(
        "--ignore-inactive", action="store_true", help="do not count topics that a group has left"
    )


def rules_of(options: argparse.Namespace, interval_seconds: float = 60.0) -> Rules:
    """The rules of runs that are so far apart; no name is filtered."""
    interval_ms = round(interval_seconds * 1000)
    return Rules(
        interval_ms=interval_ms,
        window_ms=options.window * interval_ms,
        uncommitted=_joined(options.uncommitted_earliest),
        allowed_lag=_joined(options.allowed_lag),
        owners=_joined(options.owner),
        sla_seconds=_joined(options.sla_seconds),
        hold=options.hold,
        tolerance=Tolerance(floor_ms=round(options.tolerance * 1000)),
        lookup_budget=options.lookup_budget,
        risk_horizon_ms=round(options.risk_horizon * _HOUR_MS),
        ignore_inactive=options.ignore_inactive,
    )


def _add_number(
    group: argparse._ArgumentGroup,
    option: str,
    key: tuple[type[Strict], str],
    parse: Callable[[str], float],
    unit: str,
    meaning: str,
) -> None:
    model, name = key

    def number(text: str) -> Any:
        return _check(model, name, _parse(parse, text), text)

    default = model.model_fields[name].default
    shown = f"{meaning} ({default:g})"
    group.add_argument(option, type=number, default=default, metavar=unit, help=shown)


def _add_choice(
    group: argparse._ArgumentGroup,
    name: str,
    parse: Callable[[str], Any],
    value: str,
    meaning: str,
) -> None:
    def choice(text: str) -> Any:
        # An expression may hold a =, a value none.
        expression, sign, chosen = text.rpartition("=")
        if not sign:
            raise argparse.ArgumentTypeError(f"{text!r} must be RE={value}")
        return _check(CollectorKeys, name, {expression: _parse(parse, chosen)}, text)

    _add_repeated(group, f"--{name.replace('_', '-')}", choice, f"RE={value}", meaning)


def _add_earliest(group: argparse._ArgumentGroup) -> None:
    def earliest(text: str) -> Any:
        return _check(CollectorKeys, "uncommitted", {text: EARLIEST}, text)

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


def _parse(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        kind = "a whole number" if parse is int else "a number"
        raise argparse.ArgumentTypeError(f"{text!r} is not {kind}") from error


def _check(model: type[Strict], name: str, value: Any, text: str) -> Any:
    """A value as the key of a configuration takes it."""
    found, faults = validate(model, {name: value})
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r}: {faults[0].sentence}")
    return getattr(found, name)


def _joined(chosen: Iterable[dict[str, Any]]) -> ByName[Any]:
    return ByName.of(choice for one in chosen for choice in one.items())
