# SPDX-License-Identifier: Apache-2.0
"""One scrape: a question, the families that answer it, or a sentence that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from kafka_lag.views.http import Answer, Request
from kafka_lag.views.prometheus.groups import group_families, snapshot_families
from kafka_lag.views.prometheus.partitions import partition_families, topic_families
from kafka_lag.views.prometheus.question import GROUP, PARTITION, Question, QuestionError
from kafka_lag.views.prometheus.taken import Taken, taken
from kafka_lag.views.snapshots import Snapshots

# A function URL answers with 6 MB at most, base64 included, and not every scraper takes an answer
# packed.
MOST_BYTES = 4_600_000
# Packed, metrics are a sixth and mostly much less; what is not is refused by the URL's reply. More
# would take more memory and time than a small function has.
_PACKS_BY = 6
MOST_TO_PACK = MOST_BYTES * _PACKS_BY
_TOO_LARGE = "The answer would be larger than {:.1f} MB. Ask for {}."
_PACKED = "it packed (Accept-Encoding: gzip)"


def answer(request: Request, snapshots: Snapshots, now_ms: int, most: int = MOST_BYTES) -> Answer:
    """The newest snapshots as metrics; 400 or 404 with a sentence. Raises StoreError.

    `most` bytes, or six times as many for whoever takes them packed.
    """
    try:
        question = Question.of(request.query)
    except QuestionError as error:
        return refused(400, str(error))
    parts = taken(question, snapshots)
    if question.cluster is not None and not parts:
        return refused(404, "There is no snapshot of that cluster.")
    limit = most * _PACKS_BY if request.accepts_gzip else most
    body = bytearray()
    for family in _families(question, parts, now_ms):
        body += generate_latest(_One(family))
        if len(body) > limit:
            ways = [*([] if request.accepts_gzip else [_PACKED]), *question.ways_to_less()]
            return refused(400, _TOO_LARGE.format(limit / 1e6, ", or ".join(ways)))
    return Answer(200, CONTENT_TYPE_PLAIN_0_0_4, bytes(body))


@dataclass(frozen=True, slots=True)
class _One(Collector):
    """A registry of one family, so that an answer that grows too large is given up early."""

    family: Metric

    def collect(self) -> Iterator[Metric]:
        yield self.family


def _families(question: Question, parts: Sequence[Taken], now_ms: int) -> Iterator[Metric]:
    finer = question.level != GROUP
    yield from snapshot_families(parts, now_ms)
    yield from group_families(parts, as_elsewhere=finer)
    if finer:
        yield from topic_families(parts)
    if question.level == PARTITION:
        yield from partition_families(parts)


def refused(status: int, sentence: str) -> Answer:
    """One sentence, which Prometheus shows as the target's error."""
    return Answer(status, "text/plain; charset=utf-8", f"{sentence}\n".encode())
