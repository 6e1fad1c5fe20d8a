# SPDX-License-Identifier: Apache-2.0
"""CloudWatch's evaluation of alarms as AWS documents it, minute by minute.

`grid` decides the states of many series. What AWS leaves open is in `Assumptions`, so that a
result can be computed for each reading. It needs no CDK and no other package of this project.

Source: Amazon CloudWatch user guide, "Configuring how CloudWatch alarms treat missing data".
"""
