# SPDX-License-Identifier: Apache-2.0
"""Snapshots for people and programs to look at; nothing here talks to Kafka."""
