# SPDX-License-Identifier: Apache-2.0
"""CloudWatch's metrics and alarms as far as AWS documents them, to see what an alarm would do.

`Metrics` is fed with embedded metric lines, `states` says what an alarm of a template would be in
minute by minute, `Assumptions` holds what AWS does not document. Minutes count from the epoch of
the metrics. Sources: Amazon CloudWatch user guide, "Configuring how CloudWatch alarms treat
missing data", "Alarm warm-up periods", "Acting on alarm changes".
"""
