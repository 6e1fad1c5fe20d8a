# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag serve`: the views of a folder, a bucket, or a cluster that it collects itself."""

from __future__ import annotations

import ipaddress
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.snapshots.store import BrowsableStore, FolderStore
from kafka_lag.views.auth import Bearer, check_token
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.collecting import Collecting
from kafka_lag_cli.connecting.collect_options import (
    CollectOptions,
    collect_options,
    collect_options_of,
    keep_days_option,
    names_brokers,
    refuse_without_brokers,
)
from kafka_lag_cli.help_sections import FILE, command, given_name, option
from kafka_lag_cli.local_server import LocalServer, load_certificate
from kafka_lag_cli.needs import check_extra
from kafka_lag_cli.numbers import SECONDS
from kafka_lag_cli.state.folder import default_state, open_folder
from kafka_lag_cli.state.place import SnapshotPlace
from kafka_lag_cli.terminal.text import WarningPrinter, escape_markup, wording_of

_MAX_PORT = 65_535
# Clients of the views that wait for S3 at the same time.
_CONNECTIONS = 10
_LOOPBACK = "127.0.0.1"
_OF_HTTP = ("listen", "token_file", "no_token", "listen_certfile", "listen_keyfile")
_OF_COLLECTOR = ("interval", "cluster", "keep_days")


@dataclass(frozen=True, slots=True)
class Address:
    """An address to listen on; port 0 takes any free port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach the address."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def _address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    if ":" in host and not host.startswith("["):
        raise click.BadParameter(f"{text!r}: an IPv6 address goes in brackets, as in [::1]:8000")
    host = host.strip("[]") if colon else _LOOPBACK
    digits = port.isascii() and port.isdigit() and len(port) <= len(str(_MAX_PORT))
    if not host or not digits or int(port) > _MAX_PORT:
        raise click.BadParameter(
            f"{text!r} must be HOST:PORT or PORT, with a port from 0 to {_MAX_PORT}"
        )
    return Address(host, int(port))


@command(
    epilog="""\b
examples:
  kafka-lag serve
  kafka-lag serve --state ./lag --listen 8080
  kafka-lag serve --state s3://kafka-lag-snapshots --profile ops
  kafka-lag serve --bootstrap-servers localhost:9092 --interval 15
  kafka-lag serve --bootstrap-servers b-1.example:9096 --command-config client.properties
  kafka-lag serve --state ./lag --mcp
  kafka-lag serve --config deployment.toml --listen 0.0.0.0:8000 --token-file token
""",
)
@option(
    "--listen",
    type=_address,
    default="8000",
    metavar="[HOST:]PORT",
    help=f"where to answer ({_LOOPBACK}:8000)",
)
@option(
    "--token-file",
    type=FILE,
    metavar="F",
    help="answer only requests with the token in this file",
)
@option(
    "--no-token",
    is_flag=True,
    help="answer other machines without a token",
)
@option(
    "--listen-certfile",
    type=FILE,
    metavar="F",
    help="answer over HTTPS with this certificate, PEM",
)
@option(
    "--listen-keyfile",
    type=FILE,
    metavar="F",
    help="its private key, PEM",
)
@option(
    "--mcp",
    is_flag=True,
    help="answer an assistant on standard input and output instead",
)
@option("--interval", type=SECONDS, metavar="S", help="seconds between runs (60)")
@keep_days_option
@collect_options
def serve(**options: Any) -> int:
    """Serve the status page, Burrow's API and /metrics until Ctrl-C or SIGTERM.

    Serves the snapshots of --state; with --bootstrap-servers or --config it reads the cluster
    itself. Only this machine is answered unless --listen names another address.
    """
    address = options["listen"]
    _check_source(options)
    if options["mcp"]:
        return _serve_assistant(options)
    _check_who_is_answered(address, options)
    token_file, certfile = options["token_file"], options["listen_certfile"]
    bearer = _load_bearer(token_file) if token_file else None
    certificate = load_certificate(certfile, options["listen_keyfile"]) if certfile else None
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    stderr = Console(stderr=True)
    for warning in _warnings(address, options):
        stderr.print(f"[yellow]{escape_markup(warning)}[/]", soft_wrap=True)
    try:
        if names_brokers(options):
            collect, running = _collect(options, stderr)
            store = running.own(FolderStore(collect.state))
        else:
            store, running = _open_store(options), None
        snapshots = Snapshots(store, time.time)
        if running is not None:
            running.show_by(snapshots.hold)
        if running is None and not snapshots.clusters():
            stderr.print(f"[yellow]{escape_markup(_no_snapshots_yet(options))}[/]", soft_wrap=True)
        with _listening(address):
            server = LocalServer(
                snapshots,
                time.time,
                address.port,
                bearer,
                host=address.host,
                any_name=options["no_token"],
                certificate=certificate,
                health=None if running is None else running.health,
            )
        with server, running or nullcontext():
            print(f"{server.url}/  (Ctrl-C ends it)", flush=True)
            server.wait()
    except KeyboardInterrupt:
        pass
    return 0


def _collect(options: Mapping[str, Any], stderr: Console) -> tuple[CollectOptions, Collecting]:
    collect = collect_options_of(options, options["interval"])
    logger = WarningPrinter(stderr, wording_of(config=options["config"]))
    return collect, Collecting(collect, logger, time.time)


def _serve_assistant(options: Mapping[str, Any]) -> int:
    """Answers one client of MCP until it goes; with brokers it collects meanwhile."""
    check_extra("serve --mcp", "mcp", "the SDK of MCP", "mcp")
    from kafka_lag_cli.assistants import serve_assistant  # noqa: PLC0415 - needs the extra

    ctx = click.get_current_context()
    of_http = [each for each in ctx.command.params if each.name in _OF_HTTP]
    if given := next(filter(None, (given_name(ctx, each) for each in of_http)), None):
        raise click.UsageError(f"{given} is for HTTP, which --mcp does not speak: leave it out.")
    try:
        if names_brokers(options):
            collect, running = _collect(options, Console(stderr=True))
            running.own(FolderStore(collect.state))
            with running:
                serve_assistant(SnapshotPlace(collect.state))
        else:
            serve_assistant(_place_of(options))
    except KeyboardInterrupt:
        pass
    return 0


def _check_source(options: Mapping[str, Any]) -> None:
    """One source of what is shown, with no option that is of another."""
    if not names_brokers(options):
        refuse_without_brokers(options, _OF_COLLECTOR)


@contextmanager
def _listening(address: Address) -> Iterator[None]:
    """An address that cannot be listened on becomes a ConfigError."""
    try:
        yield
    except OSError as error:
        # Python adds the address, which stands there already.
        reason = str(error.strerror).partition(" (while ")[0]
        raise ConfigError(
            f"{address.host}:{address.port} cannot be listened on ({reason}): name another "
            "address by --listen."
        ) from error


def _check_who_is_answered(address: Address, options: Mapping[str, Any]) -> None:
    """Other machines are answered by a token, or because somebody said that they shall be."""
    if (options["listen_certfile"] is None) != (options["listen_keyfile"] is None):
        raise click.UsageError("--listen-certfile and --listen-keyfile go together.")
    if options["token_file"] and options["no_token"]:
        raise click.UsageError("--token-file and --no-token: leave one out.")
    if address.is_loopback:
        if options["no_token"]:
            raise click.UsageError(
                f"--no-token is for an address that other machines reach, and {address.host} is "
                "this one's own: leave it out."
            )
    elif not (options["token_file"] or options["no_token"]):
        raise click.UsageError(
            f"--listen {address.host} is reached from other machines: add --token-file FILE with "
            "a token of your choice, or --no-token."
        )


def _warnings(address: Address, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield warnings about what the network can see."""
    if options["no_token"]:
        yield (
            f"Everybody who reaches {address.host}:{address.port} can read the names of groups, "
            "topics and clients (--no-token)."
        )
    elif not address.is_loopback and not options["listen_certfile"]:
        yield (
            "The token crosses the network in clear: add --listen-certfile and --listen-keyfile, "
            "or have a proxy with TLS before it."
        )


def _no_snapshots_yet(options: Mapping[str, Any]) -> str:
    place = _place_of(options)
    if place.bucket:
        where = f"under {contract.SNAPSHOT_PREFIX}/ in the bucket {place.bucket}"
    else:
        where = f"under {_folder_of(place) / contract.SNAPSHOT_PREFIX}/"
    return f"There are no snapshots {where} yet; they are shown once they come."


def _place_of(options: Mapping[str, Any]) -> SnapshotPlace:
    return replace(options["state"] or SnapshotPlace(), profile=options["profile"])


def _folder_of(place: SnapshotPlace) -> Path:
    return place.state or default_state(os.environ).expanduser()


def _load_bearer(token_file: Path) -> Bearer:
    bearer = Bearer(lambda: _read_token(token_file), time.monotonic)
    # A file that will not do fails now, and not at the first scrape.
    bearer.allows("")
    return bearer


def _read_token(token_file: Path) -> str:
    try:
        text = token_file.expanduser().read_text("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"Cannot read the token in {token_file} ({error.strerror}).") from error
    if not text.strip():
        raise ConfigError(f"The file {token_file} is empty: it must hold the token.")
    return check_token(text, f"The file {token_file}")


def _open_store(options: Mapping[str, Any]) -> BrowsableStore:
    place = _place_of(options)
    if not place.bucket:
        folder = _folder_of(place)
        place.check_folder()
        if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
            raise click.UsageError(f"--state: the folder {folder} cannot be read by you.")
        return open_folder(folder)
    return place.open_bucket(_CONNECTIONS)
