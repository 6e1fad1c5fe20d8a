# SPDX-License-Identifier: Apache-2.0
"""The metrics of each level before options; every name is one for each set of dimensions."""

from __future__ import annotations

from functions import contract

# The reporter's own, which no budget leaves out.
HEALTH = (
    contract.COLLECTOR_SUCCESS,
    contract.COLLECTOR_DURATION,
    contract.GROUPS_READ,
    contract.PARTITIONS_UNKNOWN,
    contract.PARTITIONS_UNCOMMITTED,
    contract.READ_ERRORS,
    contract.LAGS_CLAMPED,
    contract.TIME_LAG_LOOKUPS,
    contract.METRICS_OMITTED,
)
# Of a topic, and of a partition.
LAGS = (contract.OFFSET_LAG, contract.ESTIMATED_TIME_LAG)
GROUP = (*LAGS, contract.GROUP_STATUS, contract.TIME_TO_DATA_LOSS)
# More of a group by whose lag something scales.
SCALING = (contract.SCALING_LAG, contract.SCALING_LAG_PER_MEMBER)
