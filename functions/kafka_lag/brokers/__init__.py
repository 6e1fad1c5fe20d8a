# SPDX-License-Identifier: Apache-2.0
"""Reads Kafka. This is the only package that imports `kafka`."""
