# SPDX-License-Identifier: Apache-2.0
"""Kafka message definitions that kafka-python does not ship."""
