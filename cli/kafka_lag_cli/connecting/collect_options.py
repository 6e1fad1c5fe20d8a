# SPDX-License-Identifier: Apache-2.0
"""What to collect, as whom and by which rules: from options, or from a configuration."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka_lag.brokers.login import CredentialSource
from kafka_lag.settings import Settings
from kafka_lag.snapshots.keys import CLUSTER_NAME
from kafka_lag_cli.connecting.login_options import SECTION as ACCESS
from kafka_lag_cli.connecting.login_options import SERVERS, BrokerOptions, brokers_of, login_options
from kafka_lag_cli.connecting.rule_options import names_filters, rule_options, rules_of
from kafka_lag_cli.help_sections import FILE, add_options, given_name, is_from_variable, option
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.state.folder import DEFAULT_KEEP_DAYS, default_state, remove_old_days
from kafka_lag_cli.state.place import STATE, SnapshotPlace

if TYPE_CHECKING:
    from kafka_lag.collector import Collector, WarningLogger
    from kafka_lag.snapshots.store import SnapshotStore

_LEAST_DEADLINE = 45.0
_BROKERS = ("bootstrap_servers", "config", "command_config")
_OF_AWS = ("profile",)
_DEFAULT_INTERVAL = 60


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """Checked options; the cluster's name is empty where it is Kafka's own id.

    `keep_days` None keeps all snapshots. `narrowed`: filters were named, so that runs may read a
    part of the cluster; the filters of a configuration say what the whole is. Nothing is connected
    to, and no secret read, before `make_source` is called, which raises ConfigError. What connects,
    and numbers and Parquet, cost the start of those alone who do more than read options.
    """

    settings: Settings
    make_source: Callable[[], CredentialSource]
    state: Path
    keep_days: int | None
    protocol_named: bool = field(default=True, kw_only=True)
    narrowed: bool = field(default=False, kw_only=True)

    def find_protocol(self) -> CollectOptions:
        """The same with what the brokers speak, where nobody named it. Raises ConfigError."""
        if self.protocol_named:
            return self
        from kafka_lag_cli.connecting.protocol import find_protocol  # noqa: PLC0415

        access = find_protocol(self.settings.access)
        return replace(self, settings=replace(self.settings, access=access), protocol_named=True)

    def open_collector(self, logger: WarningLogger) -> Collector:
        """A collector without sinks. Raises ReporterError where the cluster cannot be reached."""
        return self.open_into(self.open_store(logger.warning), logger)

    def open_store(self, warn: Callable[[str], None]) -> SnapshotStore:
        """The folder, which a narrowed run does not take for the whole of what is in there."""
        from kafka_lag.snapshots.store import FolderStore  # noqa: PLC0415
        from kafka_lag_cli.state.shared import NarrowedStore  # noqa: PLC0415

        store = FolderStore(self.state)
        if not self.narrowed:
            return store
        sentence = (
            f"{self.state} holds groups or topics that the filters hide, so nothing is kept there: "
            "name another folder by --state."
        )
        return NarrowedStore(store, self.settings.rules, lambda: warn(sentence))

    def open_into(
        self,
        store: SnapshotStore,
        logger: WarningLogger,
        adapt: Callable[[Settings], Settings] = lambda settings: settings,
    ) -> Collector:
        """The same with another store; `adapt` may change the settings once the cluster has its
        name. Raises as `open_collector` does.
        """
        from kafka_lag.brokers.source import KafkaSource, quiet_library  # noqa: PLC0415
        from kafka_lag.collector import Collector  # noqa: PLC0415

        quiet_library()
        settings = self.find_protocol().settings
        source = KafkaSource(settings.access, self.make_source())
        if not settings.cluster:
            # Kafka's ids may begin with a sign, which names of snapshots' clusters do not.
            cluster = source.cluster_id(time.monotonic() + settings.deadline).lstrip("_-")
            settings = replace(settings, cluster=cluster)
        return Collector(adapt(settings), source, store, (), logger)

    def remove_old_days(self) -> None:
        """Keeps the state as small as it shall be."""
        if self.keep_days is not None:
            remove_old_days(self.state, self.keep_days, time.time())


def _cluster(text: str) -> str:
    if not CLUSTER_NAME.fullmatch(text):
        raise click.BadParameter(f"{text!r} must be letters, digits, '.', '_' or '-'")
    return text


# What is read and by which rules, without where it is kept.
source_options = add_options(
    SERVERS,
    option(
        "--config",
        type=FILE,
        metavar="F",
        help="configuration: brokers, login and rules",
        section=ACCESS,
    ),
    option(
        "--cluster",
        type=_cluster,
        metavar="NAME",
        help="name of the cluster (Kafka's own id)",
        section=ACCESS,
    ),
    login_options,
    rule_options,
)
collect_options = add_options(
    STATE,
    source_options,
)
keep_days_option = option(
    "--keep-days",
    type=WholeNumber(1, 3650),
    metavar="N",
    help=f"remove older snapshots ({DEFAULT_KEEP_DAYS} in the cache folder, else never)",
)


def collect_options_of(
    options: Mapping[str, Any],
    interval: int | None = None,
    environ: Mapping[str, str] = os.environ,
) -> CollectOptions:
    """The options together; `interval` in seconds, None for the configuration's or a minute.

    Raises click.UsageError for what does not fit, ConfigError for a configuration with faults.
    """
    place, keep = options.get("state") or SnapshotPlace(), options.get("keep_days")
    if place.bucket and not is_from_variable("state"):
        raise click.UsageError(
            "--state: a bucket holds what others collect: leave out the brokers, or name a folder."
        )
    chosen = None if place.bucket else place.state
    state = chosen or default_state(environ).expanduser()
    if state.exists() and not state.is_dir():
        raise click.UsageError(f"--state: {state} is no folder.")
    if options["config"]:
        _refuse_beside_config()
        # Costs the start of those alone who have a configuration.
        from kafka_lag_cli.connecting.deployed_document import read_deployed  # noqa: PLC0415

        named = True
        settings, make_source = read_deployed(
            options["config"], options["cluster"], options["bootstrap_servers"], options["profile"]
        )
        if interval is not None:
            settings = _with_interval(settings, interval)
    else:
        settings, brokers = _by_options(options, interval or _DEFAULT_INTERVAL, environ)
        make_source, named = brokers.make_source, brokers.protocol_named
    if keep is None and chosen is None:
        keep = DEFAULT_KEEP_DAYS
    narrowed = names_filters(options)
    return CollectOptions(
        settings, make_source, state, keep, protocol_named=named, narrowed=narrowed
    )


def names_brokers(options: Mapping[str, Any]) -> bool:
    """Return true if the options name a cluster to read, rather than snapshots."""
    return any(options[name] for name in _BROKERS)


def refuse_without_brokers(options: Mapping[str, Any], of_collector: Collection[str]) -> None:
    """Raises click.UsageError for options of a collector, of which there is none: those of the
    login and the rules, and these; and for AWS's without a bucket.
    """
    ctx = click.get_current_context()
    reads_bucket = bool(options["state"] and options["state"].bucket)
    for parameter in ctx.command.params:
        section, name = getattr(parameter, "section", None), str(parameter.name)
        given = given_name(ctx, parameter) if isinstance(parameter, click.Option) else None
        if given is None:
            continue
        if name in _OF_AWS:
            if not (reads_bucket or is_from_variable(name)):
                raise click.UsageError(f"{given} is for a bucket, or for --iam: leave it out.")
        elif name in of_collector or section == ACCESS:
            raise click.UsageError(
                f"{given} is for a cluster that is read here: add "
                "--bootstrap-servers HOST:PORT or --config FILE, or leave it out."
            )


def _by_options(
    options: Mapping[str, Any], interval: int, environ: Mapping[str, str]
) -> tuple[Settings, BrokerOptions]:
    brokers = brokers_of(options, environ)
    settings = Settings(
        options["cluster"] or "",
        brokers.access,
        rules_of(options, interval),
        interval_ms=interval * 1000,
        deadline=max(_LEAST_DEADLINE, brokers.access.broker_timeout),
    )
    return settings, brokers


def _with_interval(settings: Settings, seconds: int) -> Settings:
    rules = settings.rules.at_interval(seconds * 1000)
    return replace(settings, interval_ms=rules.interval_ms, rules=rules)


def _refuse_beside_config() -> None:
    """Options that the configuration has keys for: what is tried shall be what is deployed."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        section, name = getattr(parameter, "section", None), str(parameter.name)
        if section != ACCESS:
            continue
        if name in ("bootstrap_servers", "profile", "config", "cluster"):
            continue
        if given := given_name(ctx, parameter):
            raise click.UsageError(
                f"{given} does not go with --config: change the configuration, or leave it out."
            )
