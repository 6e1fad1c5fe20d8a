# SPDX-License-Identifier: Apache-2.0
"""Grafana dashboards from one source, for CloudWatch and for Prometheus.

Plain dataclasses: Grafana's own builder for Python has a class for each of some thousand options,
of which a few dozen are used here, and would be one more package to keep in step with.
"""
