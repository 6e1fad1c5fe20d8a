# SPDX-License-Identifier: Apache-2.0
"""What answers people and tools from the snapshots: views behind a URL, messages on a change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from kafka_lag_cdk.config.parts.cluster import LogDays
from kafka_lag_cdk.config.parts.kinds import EventBus, Strict, Whole

OFF = "off"

Memory = Annotated[int, Field(ge=256, le=10240)]


def _off(value: Any) -> Any:
    if value is None or value == OFF:
        return None
    if not isinstance(value, Mapping | BaseModel):
        raise ValueError(f'must be an object, or "{OFF}"')
    return value


# What can be had or left out: `"off"` in a document is None here.
OrOff = BeforeValidator(_off)


class Views(Strict):
    """Burrow's API, Prometheus metrics and the status page, behind a function URL.

    `auth` is who may ask: those with rights on the URL, or those with a token. `concurrency` bounds
    what strangers who try tokens can cost; None reserves nothing, which small accounts need.
    """

    auth: Literal["iam", "bearer"] = "iam"
    memory_mb: Memory = 512
    concurrency: Whole | None = None
    log_days: LogDays = 14


class StatusMessages(Strict):
    """One message a changed status: to the alarms' `topic`, to an `event_bus`, or both.

    None is no bus. `alone` reserves a concurrency of one, which small accounts lack; nothing needs
    it, as what was told is claimed by conditional writes.
    """

    topic: bool = True
    event_bus: EventBus | None = "default"
    alone: bool = False
    memory_mb: Memory = 512
    log_days: LogDays = 14

    @model_validator(mode="after")
    def _somebody_is_told(self) -> StatusMessages:
        if not self.topic and self.event_bus is None:
            raise ValueError(f'tells nobody: set topic or event_bus, or say "{OFF}" instead')
        return self
