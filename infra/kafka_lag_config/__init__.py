# SPDX-License-Identifier: Apache-2.0
"""Configurations and what follows from them, without CDK: checks, rules of alarms, costs."""
