# SPDX-License-Identifier: Apache-2.0
"""Why a cause does not fit a group: a clause for each cause, with the numbers of its rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lag import contract
from kafka_lag.wording.evidence import fits, format_evidence

_UNSETTLED = (
    "{rebalancing_share} of the last runs saw a rebalance: below {rebalancing_share_below} what it "
    "reads would say something"
)
_AVERAGES = (
    "another cause was over {over_for} ago: averages of rates still cover the time before it"
)
# Why a cause does not fit, as a clause; the first whose fields are all known is used.
_RULED_OUT: dict[str, tuple[str, ...]] = {
    contract.UNAVAILABLE: (
        "no partition is without a leader for a second run; of those behind "
        "{behind_under_replicated} of {partitions_behind} are under-replicated, of those in time "
        "{in_time_under_replicated} of {partitions_in_time}",
    ),
    contract.OFFSETS_RESET: (
        "no commit was set back; of {partitions_read_again} a little was read again",
        "{partitions_set_back} of {partitions} had its commit set back, or beyond the end",
    ),
    contract.REBALANCES: (
        "{rebalancing_share} of the last runs saw one, but it is one that goes on: its epoch is "
        "{same_epoch}, as before",
        "{rebalancing_share} of the last runs saw one; {rebalancing_share_from} would count",
        "how often it rebalances is not known",
    ),
    contract.OPEN_TRANSACTION: (
        "an open transaction holds up {held_up_records}, and the {status} has another reason",
        "an open transaction holds up {held_up_records}",
    ),
    contract.STOPPED: (
        "{partitions_owned} of {partitions_behind} partitions behind have an owner, and the "
        "status is {worst_status}",
        "{partitions_owned} of {partitions_behind} partitions behind have an owner",
    ),
    contract.RETENTION_RACE: (
        "{partitions_with_losses} partitions lost records; {of_these_read} of them are read, and "
        "the status is {worst_status}",
        "{partitions_with_losses} partitions lost records; {of_these_read} of them are read",
    ),
    contract.HOT_PARTITION: (
        "{partitions_behind} of {partitions_read} are behind (fewer than {partitions_behind_below} "
        "would fit); to these {produce_rate} are written at least, {produce_rate_from} would fit",
        "{partitions_behind} behind, of which {partitions_unmoved} do not move; one alone that "
        "moves would fit, of several of its member (it has {partitions_of_member})",
        "{partitions_unmoved} of {partitions_behind} partitions behind do not move",
        "{partitions_behind} of {partitions_read} partitions are behind: no others to compare with",
    ),
    contract.SLOW_BROKER: (
        "{partitions_behind} of {partitions_there} that broker {broker} leads are behind; nearly "
        "all, and those of another group, would fit",
        "what is behind is led by {brokers_of_what_is_behind} brokers",
    ),
    contract.STUCK_RECORD: (
        "the member moves none of its {partitions_of_member_unmoved} partitions, not one alone",
        "{partitions_stalled} of {partitions_behind} partitions behind stand still with an owner; "
        "{partitions_moving} others move",
    ),
    contract.HUNG: (
        "{partitions_moving} of {partitions_read} partitions move, {partitions_owned} are owned",
    ),
    contract.SETTINGS_CHANGED: (
        "{setting} of {topic} was changed at {changed_at}, which does not explain it",
        "no setting of its topics was changed in the last day",
    ),
    contract.CATCHING_UP: (
        "the lag is {trend}",
        "whether the lag shrinks is not known",
    ),
    contract.TOO_FEW_MEMBERS: (
        _UNSETTLED,
        _AVERAGES,
        "{members}, {members_before} before, but more is written: {produce_rate}, "
        "{produce_rate_before} before",
        "{members}, {members_before} before; each reads {read_by_each}, and "
        "{read_by_each_from} would be as much as before",
        "{members}, {members_before} before",
        "it was never seen to keep up; {members} with {capacity} each, {produce_rate} are written "
        "to {partitions_read} partitions",
        "{partitions_behind} of {partitions_read} are behind; {produce_rate} are written to them",
        "how many members it has, or had, is not known",
    ),
    contract.SLOW_MEMBER: (
        _UNSETTLED,
        _AVERAGES,
        "{partitions_behind} of the {partitions_of_member} partitions of one member are behind; "
        "{partitions_behind_from} would fit",
        "one member is behind, but it gets {produce_rate}, others {produce_rate_of_others}",
        "{members_behind} of {members_read} members are behind",
        "{read_share} of what was read before of what is behind, but {read_of_written} of what is "
        "written to it",
        "{read_share} of what was read before of what is behind; below {read_share_below} would "
        "be less",
        "{partitions_behind} of {partitions_read} are behind; {produce_rate} are written to them",
    ),
    contract.MORE_PRODUCED: (
        _UNSETTLED,
        _AVERAGES,
        "more is written, {produce_rate} after {produce_rate_before}, but less is read as well: "
        "{read_share} of before",
        "{produce_rate} are written, {produce_rate_before} before; {produce_rate_from} would be "
        "more",
        "{produce_rate} are written, {usual_produce_rate} usually; {produce_rate_from} would be "
        "more",
        "{partitions_behind} of {partitions_read} are behind; {produce_rate} are written to them",
        "what is usual is not known",
    ),
    contract.CAPACITY_FELL: (
        _UNSETTLED,
        _AVERAGES,
        "{read_share} of before is read of what is behind, but {members_down} of {members_read} "
        "members alone are behind with nearly all that they own",
        "{read_share} of before is read of what is behind; below {read_share_below} would be less",
        "{partitions_behind} of {partitions_read} are behind; {produce_rate} are written to them",
    ),
}
_RULED_OUT[contract.SLOW_MEMBERS] = _RULED_OUT[contract.SLOW_MEMBER]
# Clauses used instead if the named number is 0.
_NONE_OF_IT: Mapping[str, tuple[str, str]] = {
    contract.OPEN_TRANSACTION: ("held_up_records", "no open transaction holds it up"),
    contract.OFFSETS_RESET: (
        "partitions_set_back",
        "no commit was set back, and none lies beyond the end",
    ),
    contract.RETENTION_RACE: ("partitions_with_losses", "no record was lost"),
    contract.UNAVAILABLE: (
        "partitions_behind",
        "no partition is without a leader for a second run, and none that can be read is behind",
    ),
    **dict.fromkeys(
        (contract.STOPPED, contract.HOT_PARTITION, contract.STUCK_RECORD),
        ("partitions_behind", "no partition that can be read is behind"),
    ),
    # A hot partition is not counted here.
    **dict.fromkeys(
        (
            contract.TOO_FEW_MEMBERS,
            contract.SLOW_MEMBER,
            contract.SLOW_MEMBERS,
            contract.MORE_PRODUCED,
            contract.CAPACITY_FELL,
        ),
        ("partitions_behind", "no other partition that can be read is behind"),
    ),
    contract.SLOW_BROKER: (
        "brokers_of_what_is_behind",
        "no broker is known to lead what is behind",
    ),
}
_NEVER_KEPT_UP = (
    "it was never seen to keep up, or not since a long time without a run: there is nothing to "
    "compare with"
)


def describe_ruled_out(cause: str, evidence: Mapping[str, Any]) -> str:
    """Returns why a cause does not fit a group, from the numbers of its rule."""
    fields = format_evidence(evidence)
    number, none = _NONE_OF_IT.get(cause, ("", ""))
    if evidence.get(number) == 0:
        return none
    found = next((text for text in _RULED_OUT.get(cause, ()) if fits(text, fields)), None)
    says_nothing = found is None or "{" not in found
    if found is None or (says_nothing and evidence.get("kept_up") is False):
        return _NEVER_KEPT_UP
    return found.format_map(fields)
