# SPDX-License-Identifier: Apache-2.0
"""Deployed alarms and Application Auto Scaling as AWS documents them, minute by minute.

`metrics` holds values by series and minute, `alarms` reads an alarm's CloudFormation properties,
`expressions` its metric math, `timeline` the states of hours, `autoscaling` the tasks of an ECS
service. One state is decided by `kafka_lag_config.simulation`, which production uses. What AWS
leaves open is in `Assumptions`. Minutes count from the metrics' epoch.

Sources: Amazon CloudWatch user guide, "Alarm warm-up periods", "Acting on alarm changes", "Using
math expressions with CloudWatch metrics"; Application Auto Scaling user guide, "How step scaling
works", "Cooldown period"; API reference.
"""
