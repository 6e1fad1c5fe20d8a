# SPDX-License-Identifier: Apache-2.0
"""CloudWatch's alarms and Application Auto Scaling as AWS documents them, minute by minute.

`metrics` holds values by series and minute, `alarms` reads an alarm's CloudFormation properties,
`expressions` its metric math, `evaluation` decides one state, `timeline` the states of hours,
`autoscaling` the tasks of an ECS service. What AWS leaves open is in `Assumptions` and
`ScalingAssumptions`, so that a result can be computed for each reading. Minutes count from the
epoch of the metrics. It needs no CDK and no other package of this project.

Sources: Amazon CloudWatch user guide, "Configuring how CloudWatch alarms treat missing data",
"Alarm warm-up periods", "Acting on alarm changes", "Using math expressions with CloudWatch
metrics"; Application Auto Scaling user guide, "How step scaling works", "How target tracking
scaling works", "Cooldown period"; API reference.
"""
