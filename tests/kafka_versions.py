# SPDX-License-Identifier: Apache-2.0
"""Tests on brokers of another version: which are skipped there, by name, and which were run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

from dev.kafka import BrokerFeature
from dev.kafka.jars import kafka_version
from dev.traffic import needed_by


def needs(feature: BrokerFeature) -> pytest.MarkDecorator:
    """Skips a test, and names the feature, where the brokers lack it."""
    since = ".".join(map(str, feature.since))
    reason = f"brokers of {version()} lack {feature.name} (since {since})"
    return pytest.mark.skipif(feature.missing, reason=reason)


def needing_features(group: str) -> ParameterSet:
    """A parameter that is the name of a group of the traffic, skipped where brokers lack what it
    needs.
    """
    feature = needed_by(group)
    return pytest.param(group, marks=() if feature is None else needs(feature))


def version() -> str:
    """Of the brokers that this process starts."""
    return ".".join(map(str, kafka_version()))


def summary(passed: int, failed: int, reasons: Iterable[str]) -> str:
    """How many tests passed and failed on brokers of this version, and why others did not run."""
    skipped = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    reported = [f"{count} because {reason}" for reason, count in skipped.items()]
    counts = f"Kafka {version()}: {passed} passed, {failed} failed, {skipped.total()} skipped"
    return ": ".join([counts, "; ".join(reported)]) if reported else counts
