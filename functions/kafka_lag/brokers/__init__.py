# SPDX-License-Identifier: Apache-2.0
"""The Kafka side: the only importer of `kafka`."""
