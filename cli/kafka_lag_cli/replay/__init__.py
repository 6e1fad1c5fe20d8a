# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag replay`: which pages a configuration would have sent on past days.

`alarms` are those that it would deploy, as conditions on columns of groups; `recorded` are the
columns, minute by minute; `pages` evaluates the one on the other; `changes` compares the pages of
two configurations; `output` shows them.
"""

from kafka_lag_cli.replay.command import replay

__all__ = ["replay"]
