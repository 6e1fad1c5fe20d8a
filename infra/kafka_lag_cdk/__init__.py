# SPDX-License-Identifier: Apache-2.0
"""The deployment: constructs for an app of CDK, and the stacks of a configuration.

What an app needs is imported from here. It is loaded at its first use: the configuration is read
without CDK, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_lag_cdk.alarm_rules import alarm_shares
    from kafka_lag_cdk.alarms import NamedGroupAlarms, Recipients
    from kafka_lag_cdk.config.document import (
        FilterSection,
        LevelsSection,
        OtlpSection,
        OtlpSink,
        PartitionsSection,
        ToleranceSection,
        TopicFilterSection,
    )
    from kafka_lag_cdk.config.scaling import (
        EcsService,
        ScheduledBounds,
        Step,
        Steps,
        Tasks,
        Tracking,
    )
    from kafka_lag_cdk.config.shared import (
        Athena,
        Keep,
        Notify,
        OwnerReceivers,
        Report,
        SharedSettings,
        Slack,
        StatusMessages,
        Teams,
        Views,
    )
    from kafka_lag_cdk.config.tasks import TaskKeys
    from kafka_lag_cdk.config.watched import Function
    from kafka_lag_cdk.lag_collector import LagCollector
    from kafka_lag_cdk.lag_reports import LagReports
    from kafka_lag_cdk.names import SharedNames
    from kafka_lag_cdk.props import (
        Alarms,
        Iam,
        KafkaCluster,
        Network,
        NoLogin,
        Scram,
        ServiceScaling,
        Tls,
    )

_MODULES = {
    "alarm_rules": ("alarm_shares",),
    "alarms": ("NamedGroupAlarms", "Recipients"),
    "config.document": (
        *("FilterSection", "LevelsSection", "OtlpSection", "OtlpSink", "PartitionsSection"),
        *("ToleranceSection", "TopicFilterSection"),
    ),
    "config.scaling": ("EcsService", "ScheduledBounds", "Step", "Steps", "Tasks", "Tracking"),
    "config.shared": (
        *("Athena", "Keep", "Notify", "OwnerReceivers", "Report", "SharedSettings", "Slack"),
        *("StatusMessages", "Teams", "Views"),
    ),
    "config.tasks": ("TaskKeys",),
    "config.watched": ("Function",),
    "lag_collector": ("LagCollector",),
    "lag_reports": ("LagReports",),
    "names": ("SharedNames",),
    "props": (
        *("Alarms", "Iam", "KafkaCluster", "Network", "NoLogin", "Scram", "ServiceScaling", "Tls"),
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Alarms",
    "Athena",
    "EcsService",
    "FilterSection",
    "Function",
    "Iam",
    "KafkaCluster",
    "Keep",
    "LagCollector",
    "LagReports",
    "LevelsSection",
    "NamedGroupAlarms",
    "Network",
    "NoLogin",
    "Notify",
    "OtlpSection",
    "OtlpSink",
    "OwnerReceivers",
    "PartitionsSection",
    "Recipients",
    "Report",
    "ScheduledBounds",
    "Scram",
    "ServiceScaling",
    "SharedNames",
    "SharedSettings",
    "Slack",
    "StatusMessages",
    "Step",
    "Steps",
    "TaskKeys",
    "Tasks",
    "Teams",
    "Tls",
    "ToleranceSection",
    "TopicFilterSection",
    "Tracking",
    "Views",
    "alarm_shares",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kafka_lag_cdk.{_HOMES[name]}"), name)
