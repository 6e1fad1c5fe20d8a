# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag why`: the cause of a group's lag, how it came to it, and what it is not."""

from kafka_lag_cli.why.command import why

__all__ = ["why"]
