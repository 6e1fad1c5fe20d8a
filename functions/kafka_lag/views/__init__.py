# SPDX-License-Identifier: Apache-2.0
"""Snapshots over HTTP: Burrow's API, /metrics and the status page; nothing here talks to Kafka."""
