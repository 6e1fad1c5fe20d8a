# SPDX-License-Identifier: Apache-2.0
"""Reading Kafka; the only package that imports `kafka`."""
