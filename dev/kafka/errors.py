# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while the local cluster is prepared, started or steered."""


class KafkaClusterError(Exception):
    """The cluster cannot do what was asked; the message is a sentence for a person."""
