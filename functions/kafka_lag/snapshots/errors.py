# SPDX-License-Identifier: Apache-2.0
"""What tells a store that answers, but not with a snapshot, from one that does not answer."""

from kafka_lag.errors import StoreError


class UnusableError(StoreError):
    """There is no such object, or its bytes are no snapshot; asking again would not help."""
