# SPDX-License-Identifier: Apache-2.0
"""The same runs live and replayed: alarms on what a collector publishes, and on its snapshots.

`traffic` is what groups do in the time, `timelines` the states of both sides, `command` runs real
brokers and a collector each minute and compares.
"""
