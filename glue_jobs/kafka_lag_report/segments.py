# SPDX-License-Identifier: Apache-2.0
"""What each row adds to the segments and runs of its day: the shapes that rows are reduced to.

A segment is a partition as one leader led it and, of a group, as one member owned it. Times are
seconds of the UTC day. Rows with an `unread_reason` repeat what an earlier run saw, possibly the
day before, and count as unknown here.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kafka_lag.contract import AT_RISK, LOST, SAFE, STALL, STOP
from kafka_lag_report.partials import GREATEST, LEAST, SUM, How, Mask, Measure, Shape, Values
from kafka_lag_report.rises import offsets_of
from kafka_lag_report.thresholds import STILL_SECONDS

GROUP_TOPIC = ("consumer_group", "topic")
GROUP_SEGMENT = ("topic_id", "partition_id", "leader", "client_id", "client_host", "member_id")
TOPIC = ("topic",)
TOPIC_SEGMENT = ("topic_id", "partition_id", "leader", "leader_rack")

# What the collector calls a commit that stands, with an owner and without one.
_STANDS = {"stalled_lag": STALL, "stopped_lag": STOP}
_WORDS = {"lost": LOST, "at_risk": AT_RISK, "safe": SAFE}

_DAY_SECONDS = 86_400
# Longer than the snapshots' own limit of 30 days, and short enough to count in milliseconds.
_LONGEST_LOSS_SECONDS = 1e7
# Values above are alike: with the second they fill a long.
_LARGEST = 1 << 45

# Whether the age of a row is a least one: its record is as old, and maybe older.
IS_AGE_LEAST = "(time_lag_seconds IS NOT NULL AND time_lag_error_seconds IS NULL)"
# The age of a row that has an upper bound; null: it has none, or is not known.
DATED_AGE = f"IF({IS_AGE_LEAST}, NULL, time_lag_seconds)"


def find_ages(rows: pa.Table) -> tuple[Values, Mask]:
    """Ages, and where they are least ones, as IS_AGE_LEAST says in SQL."""
    age = Values.of(rows["time_lag_seconds"])
    return age, age.known & rows["time_lag_error_seconds"].is_null().to_numpy()


def find_standing(rows: pa.Table) -> dict[str, Mask]:
    """Rows whose commit stood, with an owner (STALL) and without one (STOP).

    The status says first that records are lost: behind that, a commit that is as old as a status'
    usual window stands.
    """
    status = {word: _is(rows["status"], word) for word in (STALL, STOP)}
    changed, lost = Values.of(rows["commit_changed_at"]), Values.of(rows["records_lost"])
    stands = _seconds(rows) - changed.values // 1_000 >= STILL_SECONDS
    losing = lost.known & (lost.values > 0) & changed.known & stands
    losing &= ~(status[STALL] | status[STOP])
    is_owned = rows["member_id"].is_valid().to_numpy()
    return {STALL: status[STALL] | (losing & is_owned), STOP: status[STOP] | (losing & ~is_owned)}


def _of_group_rows(rows: pa.Table) -> dict[str, Values]:
    second = Values.everywhere(_seconds(rows) % _DAY_SECONDS)
    lag = Values.of(rows["lag"])
    age, is_least = find_ages(rows)
    stands = find_standing(rows)
    margin, loss = _margins(rows), Values.of(rows["seconds_until_loss"])
    millis = (np.minimum(loss.values, _LONGEST_LOSS_SECONDS) * 1_000).astype(np.int64)
    read = offsets_of(rows, "group_partitions")
    word = rows["retention_risk"]
    return {
        **_seen(second),
        "lags": _count(lag.known),
        "lag_sum": lag,
        **{name: lag.only(stands[status]) for name, status in _STANDS.items()},
        "time_lag_max": age,
        "dated_max": age.only(~is_least),
        "records_lost": Values.of(rows["records_lost"]),
        "consume_rate": Values.of(rows["consume_rate"]),
        "consumed": Values.of(rows["consumed"]),
        "margin": margin,
        **_at_least("margin", margin, second),
        "lag_at_margin": lag,
        "loss_seconds": loss,
        **_at_least("loss", Values(millis, loss.known), second),
        **{n: Values(_is(word, it), word.is_valid().to_numpy()) for n, it in _WORDS.items()},
        **_first_and_last("end", "ends", Values.of(rows["end_offset"]), second),
        **_first_and_last("committed", "commits", Values(read.value, read.is_known), second),
    }


def _of_topic_rows(rows: pa.Table) -> dict[str, Values]:
    second = Values.everywhere(_seconds(rows) % _DAY_SECONDS)
    retention, policy = Values.of(rows["retention_ms"]), rows["cleanup_policy"]
    forever = retention.known & (retention.values < 0)
    deletes = _contains(policy, "delete")
    has_policy = policy.is_valid().to_numpy()
    # null unless one setting says so, or both say no
    is_unlimited = forever | (has_policy & ~deletes)
    unlimited = Values(is_unlimited, is_unlimited | (retention.known & has_policy))
    return {
        **_seen(second),
        "produced": Values.of(rows["produced"]),
        "retention_ms": retention,
        "retention_known_at": second.only(retention.known),
        "retention_unlimited": unlimited,
        "unlimited_known_at": second.only(unlimited.known),
        **_first_and_last("end", "ends", Values.of(rows["end_offset"]), second),
    }


def _of_group_runs(rows: pa.Table) -> dict[str, Values]:
    was_read = rows["unread_reason"].is_null().to_numpy()
    lag = Values.of(rows["lag"]).only(was_read)
    age, is_least = find_ages(rows)
    return {
        "read": Values.everywhere(was_read),
        "lag": lag,
        "lag_max": lag,
        "lags": _count(lag.known),
        "time_lag": age.only(was_read),
        "is_least": Values.everywhere(is_least),
        "consume_rate": Values.of(rows["consume_rate"]).only(was_read),
        "records_lost": Values.of(rows["records_lost"]).only(was_read),
    }


def _of_topic_runs(rows: pa.Table) -> dict[str, Values]:
    rate = Values.of(rows["produce_rate"])
    return {"top": rate, "total": rate, "count": _count(rate.known)}


def _seconds(rows: pa.Table) -> npt.NDArray[np.int64]:
    seconds: npt.NDArray[np.int64] = Values.of(rows["taken_at"]).values // 1_000
    return seconds


def _is(column: pa.ChunkedArray, word: str) -> Mask:
    """Rows with this text; compared once for each text that there is."""
    return _where(column, [each == word for each in _texts(column)])


def _contains(column: pa.ChunkedArray, word: str) -> Mask:
    return _where(column, [word in each for each in _texts(column)])


def _texts(column: pa.ChunkedArray) -> Sequence[str]:
    texts: list[str] = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    return texts


def _where(column: pa.ChunkedArray, of_text: Sequence[bool]) -> Mask:
    if not column.num_chunks:
        return np.zeros(0, dtype=np.bool_)
    codes = column.chunk(0).indices.fill_null(len(of_text)).to_numpy()
    # what is not known is not so
    found: Mask = np.array([*of_text, False])[codes]
    return found


def _count(mask: Mask) -> Values:
    return Values.everywhere(mask.astype(np.int64))


def _margins(rows: pa.Table) -> Values:
    """Records between the log start and the commit, 0 at least; the snapshot's own wins."""
    own = Values.of(rows["retention_margin"])
    committed, start = Values.of(rows["committed_offset"]), Values.of(rows["start_offset"])
    distance = np.maximum(committed.values - start.values, 0)
    return Values(
        np.where(own.known, own.values, distance),
        own.known | (committed.known & start.known),
    )


def _at_least(name: str, value: Values, second: Values) -> dict[str, Values]:
    """The second, and what orders rows by the value, then by time: whole numbers >= 0."""
    order = np.minimum(value.values, _LARGEST) * _DAY_SECONDS + second.values
    return {f"{name}_at": second, f"{name}_order": Values(order, value.known)}


def _seen(second: Values) -> dict[str, Values]:
    return {
        "reads": _count(second.known),
        "first_at": second,
        "last_at": second,
    }


def _first_and_last(name: str, times: str, value: Values, second: Values) -> dict[str, Values]:
    at = second.only(value.known)
    return {
        f"{name}_first": value,
        f"{name}_last": value,
        f"{name}_first_at": at,
        f"{name}_last_at": at,
        times: _count(value.known),
    }


def _first(by: str) -> Measure:
    return Measure(How.FIRST, by)


def _last(by: str) -> Measure:
    return Measure(How.LAST, by)


_SEEN = {"reads": SUM, "first_at": LEAST, "last_at": GREATEST}


def _ends(name: str, times: str) -> Mapping[str, Measure]:
    return {
        f"{name}_first": _first(f"{name}_first_at"),
        f"{name}_last": _last(f"{name}_last_at"),
        f"{name}_first_at": LEAST,
        f"{name}_last_at": GREATEST,
        times: SUM,
    }


GROUP_SEGMENTS = Shape(
    "group_partitions",
    (*GROUP_TOPIC, *GROUP_SEGMENT),
    (
        *("taken_at", "consumed", "lag", "time_lag_seconds", "time_lag_error_seconds"),
        *("consume_rate", "records_lost", "committed_offset", "start_offset", "end_offset"),
        *("retention_margin", "retention_risk", "seconds_until_loss", "status"),
        *("commit_changed_at", "skipped_from", "skipped_to", "skipped_at"),
        "skip_reason",
    ),
    {
        **_SEEN,
        **dict.fromkeys(("lags", "lag_sum", *_STANDS), SUM),
        **dict.fromkeys(("time_lag_max", "dated_max", "records_lost"), GREATEST),
        **dict.fromkeys(("consume_rate", "consumed"), SUM),
        "margin": LEAST,
        "margin_order": LEAST,
        "margin_at": _first("margin_order"),
        "lag_at_margin": _first("margin_order"),
        "loss_seconds": LEAST,
        "loss_order": LEAST,
        "loss_at": _first("loss_order"),
        **dict.fromkeys(_WORDS, GREATEST),
        **_ends("end", "ends"),
        **_ends("committed", "commits"),
    },
    _of_group_rows,
)
TOPIC_SEGMENTS = Shape(
    "topic_partitions",
    (*TOPIC, *TOPIC_SEGMENT),
    ("taken_at", "produced", "end_offset", "retention_ms", "cleanup_policy"),
    {
        **_SEEN,
        "produced": SUM,
        "retention_ms": _last("retention_known_at"),
        "retention_known_at": GREATEST,
        "retention_unlimited": _last("unlimited_known_at"),
        "unlimited_known_at": GREATEST,
        **_ends("end", "ends"),
    },
    _of_topic_rows,
)
GROUP_RUNS = Shape(
    "group_partitions",
    (*GROUP_TOPIC, "taken_at"),
    ("lag", "time_lag_seconds", "time_lag_error_seconds", "consume_rate", "records_lost"),
    {
        "read": LEAST,
        "lag": SUM,
        "lag_max": GREATEST,
        "lags": SUM,
        "time_lag": GREATEST,
        "is_least": GREATEST,
        "consume_rate": SUM,
        "records_lost": GREATEST,
    },
    _of_group_runs,
    takes_unread=True,
)
TOPIC_RUNS = Shape(
    "topic_partitions",
    (*TOPIC, "taken_at"),
    ("produce_rate",),
    {"top": GREATEST, "total": SUM, "count": SUM},
    _of_topic_runs,
)
