# SPDX-License-Identifier: Apache-2.0
"""The mark on raw objects whose rows are in the history: only marked ones ever expire.

A folder on a disk knows no tags, and nothing in it expires by itself.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag_report.errors import DataError
from kafka_lag_report.storage.objects import AT_ONCE

# The words that the bucket's lifecycle rules look for.
TAG, VALUE = "kafka-lag-compacted", "true"
_TAGGING = {"TagSet": [{"Key": TAG, "Value": VALUE}]}
_ABSENT = "NoSuchKey"
_RERUN = (
    "check the job's right s3:PutObjectTagging, and run the day again; nothing unmarked expires"
)


def tag_compacted(
    bucket: str,
    keys: Sequence[str],
    client: Any,
    at_once: int = AT_ONCE,
    progress: Callable[[int], object] = lambda _: None,
) -> int:
    """Mark the objects; how many there were, as one that vanished meanwhile is none.

    S3 replaces all tags of an object, and the collector gives its objects none. `progress` hears
    after each object how many are done. Tries all that S3 answers for, then DataError names the
    first that it refused; what was marked stays so, and may be marked again.
    """
    tag = partial(_tagged, client, bucket, Event())
    marked, refused = 0, dict[str, ClientError]()
    try:
        with ThreadPoolExecutor(at_once) as pool:
            for done, (key, result) in enumerate(zip(keys, pool.map(tag, keys), strict=True), 1):
                if isinstance(result, ClientError):
                    refused[key] = result
                marked += result is True
                progress(done)
    except BotoCoreError as error:
        raise DataError(f"cannot tag objects in bucket {bucket}: {error}; {_RERUN}") from error
    if refused:
        key, why = next(iter(refused.items()))
        others = f" (and {len(refused) - 1:,} more of {len(keys):,})" if len(refused) > 1 else ""
        raise DataError(f"cannot tag {key}{others} in bucket {bucket}: {why}; {_RERUN}")
    return marked


def _tagged(client: Any, bucket: str, silent: Event, key: str) -> bool | ClientError:
    """Whether the object was there to be marked, or why S3 refused; nothing once S3 is silent."""
    if silent.is_set():
        return False
    try:
        client.put_object_tagging(Bucket=bucket, Key=key, Tagging=_TAGGING)
    except ClientError as error:
        return False if error.response["Error"]["Code"] == _ABSENT else error
    except BotoCoreError:
        # Not this object's fault: all others would wait as long for the same.
        silent.set()
        raise
    return True
