# SPDX-License-Identifier: Apache-2.0
"""Raw objects are marked once their rows are in the history."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from kafka_lag import contract
from kafka_lag_report.errors import DataError
from kafka_lag_report.history.tagging import TAG, VALUE, tag_compacted

_BUCKET = "lag"
_KEYS = [f"snapshots/groups/cluster=a%20b/{number}.parquet" for number in range(40)]


def _put(client: Any, keys: list[str]) -> None:
    for key in keys:
        client.put_object(Bucket=_BUCKET, Key=key, Body=b"")


class _Refusing:
    """S3 that answers some keys with an error, and remembers what it was asked."""

    def __init__(self, errors: Mapping[str, Exception]) -> None:
        self._errors = errors
        self._lock = threading.Lock()
        self.asked: list[str] = []

    def put_object_tagging(self, **request: Any) -> None:
        with self._lock:
            self.asked.append(request["Key"])
        if request["Key"] in self._errors:
            raise self._errors[request["Key"]]


def _refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "PutObjectTagging")


def test_the_mark_is_the_contracts() -> None:
    assert (TAG, VALUE) == (contract.COMPACTED_TAG, contract.COMPACTED_VALUE)


def test_each_object_is_marked_and_no_other(s3: Any) -> None:
    _put(s3, [*_KEYS, "other"])

    assert tag_compacted(_BUCKET, _KEYS, s3, at_once=8) == len(_KEYS)

    tags = {
        key: s3.get_object_tagging(Bucket=_BUCKET, Key=key)["TagSet"] for key in [*_KEYS, "other"]
    }
    mark = [{"Key": "kafka-lag-compacted", "Value": "true"}]
    assert tags == {**dict.fromkeys(_KEYS, mark), "other": []}


def test_marking_again_changes_nothing(s3: Any) -> None:
    _put(s3, _KEYS[:2])

    assert [tag_compacted(_BUCKET, _KEYS[:2], s3) for _ in range(2)] == [2, 2]


def test_an_object_that_vanished_is_fine_and_not_counted(s3: Any) -> None:
    _put(s3, _KEYS[1:])

    assert tag_compacted(_BUCKET, _KEYS, s3) == len(_KEYS) - 1


def test_refusals_are_counted_after_all_others_were_marked() -> None:
    client = _Refusing(dict.fromkeys(_KEYS[3:6], _refused("AccessDenied")))

    with pytest.raises(DataError, match=r"cannot tag \S+/3.parquet \(and 2 more of 40\) in bucket"):
        tag_compacted(_BUCKET, _KEYS, client)

    assert sorted(client.asked) == sorted(_KEYS)


def test_a_single_refusal_names_its_object_only() -> None:
    client = _Refusing({_KEYS[7]: _refused("SlowDown")})

    with pytest.raises(DataError, match=r"cannot tag \S+/7.parquet in bucket lag: .*SlowDown"):
        tag_compacted(_BUCKET, _KEYS, client)


def test_without_an_answer_from_s3_the_rest_is_not_waited_for() -> None:
    silent = EndpointConnectionError(endpoint_url="https://s3")
    client = _Refusing(dict.fromkeys(_KEYS, silent))

    with pytest.raises(DataError, match="cannot tag objects in bucket lag: Could not connect"):
        tag_compacted(_BUCKET, _KEYS, client, at_once=1)

    assert client.asked == _KEYS[:1]


def test_progress_is_heard_object_by_object() -> None:
    heard: list[int] = []

    tag_compacted(_BUCKET, _KEYS[:3], _Refusing({}), progress=heard.append)

    assert heard == [1, 2, 3]


def test_no_objects_need_no_call() -> None:
    assert tag_compacted(_BUCKET, [], _Refusing({})) == 0
