# SPDX-License-Identifier: Apache-2.0
"""Errors of preparing, starting and controlling the local cluster."""


class KafkaClusterError(Exception):
    """The cluster cannot do a request; the message is a sentence for a person."""
