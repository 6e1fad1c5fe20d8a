# SPDX-License-Identifier: Apache-2.0
"""Options of a subcommand for the groups to show, and for the form of the output."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kafka_lag import contract
from kafka_lag.errors import SourceError
from kafka_lag.wording.formatting import format_list, format_quantity
from kafka_lag_cli.connecting.rule_options import names_owners
from kafka_lag_cli.help_sections import add_options, option
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.terminal.group_rows import (
    BY_GROUP,
    BY_PARTITION,
    PARTITION_SORTS,
    SORTS,
    STATUSES,
    Selection,
    select_groups,
    write_rows,
)
from kafka_lag_cli.terminal.records import TABLE, output_option

if TYPE_CHECKING:
    from kafka_lag.lag.model import Snapshot

_NAMED_BROKERS = 5
# Burrow's words for the same.
_PARTITION_STATUSES = {
    contract.STOP: contract.STOPPED,
    contract.STALL: contract.STALLED,
    contract.REWIND: contract.REWOUND,
}


def _statuses(text: str) -> frozenset[str]:
    by_capitals = {name.upper(): name for name in STATUSES} | _PARTITION_STATUSES
    words = text.upper().split(",")
    for word in words:
        if word not in by_capitals:
            raise click.BadParameter(f"{word!r} is none of {', '.join(STATUSES)}")
    return frozenset(by_capitals[word] for word in words)


selection_options = add_options(
    option(
        "--group",
        metavar="NAME",
        help="show one group: partitions, offsets, members",
    ),
    option(
        "--sort",
        type=click.Choice(list(SORTS)),
        metavar="KEY",
        help="status, lag, time-lag, sla, loss, members or name (status)",
    ),
    option(
        "--top",
        type=WholeNumber(1, 1_000_000),
        metavar="N",
        help="show the first N",
    ),
    option(
        "--status",
        "statuses",
        type=_statuses,
        metavar="S,...",
        help="show groups with these, such as ERR,WARN or stopped",
    ),
    option("--owner", metavar="NAME", help="show groups with this owner"),
    output_option,
    option("--wide", is_flag=True, help="show all columns of the table"),
    option(
        "--by",
        type=click.Choice([BY_GROUP, BY_PARTITION]),
        metavar="ROW",
        help="row of json, ndjson and csv: group or partition",
    ),
)


def selection_of(options: Mapping[str, Any]) -> Selection:
    """The options together. Raises click.UsageError for what does not fit."""
    if options["by"] and options["output"] == TABLE:
        raise click.UsageError("--by is for --output json, ndjson and csv.")
    if options["group"] and (options["statuses"] or options["owner"]):
        raise click.UsageError("--group is one group: leave out --status and --owner.")
    if options["group"] and options["sort"] not in (None, *PARTITION_SORTS):
        raise click.UsageError(f"--group sorts partitions: by {', '.join(PARTITION_SORTS)}.")
    if options["owner"] and not (names_owners(options) or options["config"]):
        raise click.UsageError(
            "--owner selects by owners: say who they are with --set owner.RE=NAME, or --config "
            "FILE."
        )
    return Selection(
        options["sort"],
        options["top"],
        options["statuses"] or frozenset(),
        options["owner"],
        options["group"],
    )


def write_selected(
    snapshot: Snapshot,
    cluster: str,
    selection: Selection,
    options: Mapping[str, Any],
    *,
    heading: bool = True,
) -> None:
    """Writes the selected rows for programs to standard output."""
    by = options["by"] or (BY_PARTITION if options["group"] else BY_GROUP)
    write_rows(snapshot, cluster, selection, by, options["output"], sys.stdout, heading=heading)


def check_group(snapshot: Snapshot, name: str | None, unread_brokers: Sequence[str] = ()) -> None:
    """Raises SourceError for a group that the cluster, or the filters, do not have.

    A broker that was not read may have it.
    """
    if name is None or select_groups(snapshot, Selection(group=name)).matching:
        return
    if unread_brokers:
        brokers = format_list(list(unread_brokers), _NAMED_BROKERS)
        raise SourceError(
            f"The group {name} is none of those that were listed, and these brokers did not "
            f"answer: {brokers}."
        )
    names = snapshot.groups.strings("consumer_group").categories
    near = difflib.get_close_matches(name, names, 3)
    advice = (
        f"did you mean {' or '.join(near)}?"
        if near
        else f"leave --group out to see all {format_quantity(len(names), 'group')}."
    )
    raise SourceError(f"There is no group {name} that this login may see: {advice}")
