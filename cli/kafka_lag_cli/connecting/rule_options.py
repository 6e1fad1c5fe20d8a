# SPDX-License-Identifier: Apache-2.0
"""The rules of a command line: keys of the configuration, each by `--set KEY=VALUE`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import click

from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.settings import INTERNAL_TOPICS, settings_of
from kafka_lag_cli.help_sections import option
from kafka_lag_config.window import parse_window

ACCESS: Final = "access and rules"
_BY_NAME = (
    *("allowed_lag", "delay_seconds", "owner", "runbook_url", "sla_seconds"),
    "uncommitted",
)
# Values of these stay text, even if they look like a number.
_TEXTS = ("owner", "runbook_url", "uncommitted")
_SECTIONS = (*_BY_NAME, "tolerance")
_FILTERS = tuple(f"{name}.{rule}" for name in ("groups", "topics") for rule in ("allow", "deny"))
_PLAIN = ("hold", "ignore_inactive", "lookup_budget", "risk_horizon_hours", "window")

rule_options = option(
    "--set",
    "rules",
    multiple=True,
    metavar="KEY=VALUE",
    help="rule by its key, such as groups.deny=^test",
    section=ACCESS,
)


def rules_of(options: Mapping[str, Any], interval_seconds: float = 60.0) -> Rules:
    """Returns the rules of runs that are so far apart.

    Raises click.UsageError for a key or a value that a configuration would not take.
    """
    interval_ms = round(interval_seconds * 1000)
    given = _read(options["rules"])
    if not given:
        return Rules(
            interval_ms=interval_ms,
            window_ms=parse_window(None, interval_seconds),
            topics=NameFilter(None, re.compile(INTERNAL_TOPICS)),
        )
    # The model costs the start of those alone who change a rule.
    from kafka_lag_config.document import CollectorKeys, written  # noqa: PLC0415
    from kafka_lag_config.strict import validate  # noqa: PLC0415

    runs = {"interval_seconds": interval_seconds} if "window" in given else {}
    keys, faults = validate(CollectorKeys, {**given, **runs})
    if keys is None:
        fault = faults[0]
        raise click.UsageError(f"--set {'.'.join(map(str, fault.place))}: {fault.sentence}")
    # Brokers and login are no rules: any will do.
    document = written(
        keys,
        cluster="any",
        bootstrap_servers=["any:9092"],
        security_protocol="PLAINTEXT",
        sasl_mechanism=None,
        secret_id=None,
        cafile=None,
    )
    return replace(
        settings_of(document).rules,
        interval_ms=interval_ms,
        window_ms=parse_window(given.get("window"), interval_seconds),
    )


def names_owners(options: Mapping[str, Any]) -> bool:
    """Returns true if the options say who owns groups."""
    return "owner" in _read(options["rules"])


def names_filters(options: Mapping[str, Any]) -> bool:
    """Returns true if the options leave out groups or topics."""
    return not {"groups", "topics"}.isdisjoint(_read(options["rules"]))


def _read(texts: Sequence[str]) -> dict[str, Any]:
    """Returns the keys with their values, as a configuration has them."""
    found: dict[str, Any] = {}
    for text in texts:
        # An expression may hold a =, another value none.
        is_filter = text.startswith(tuple(f"{each}=" for each in _FILTERS))
        path, sign, value = text.partition("=") if is_filter else text.rpartition("=")
        key, dot, name = path.partition(".")
        known = is_filter or (key in _SECTIONS if dot else key in _PLAIN)
        if not (sign and known and (name or not dot)):
            by_name = (f"{each}.RE" for each in _BY_NAME)
            keys = ", ".join([*_PLAIN, *_FILTERS, *by_name, "tolerance.seconds"])
            raise click.UsageError(f"--set {text}: must be KEY=VALUE, with one of the keys {keys}.")
        if dot:
            found.setdefault(key, {})[name] = value if is_filter or key in _TEXTS else _value(value)
        else:
            found[key] = _value(value)
    return found


def _value(text: str) -> Any:
    """Returns a number or a boolean, or else the text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float) else text
