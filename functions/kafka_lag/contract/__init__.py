# SPDX-License-Identifier: Apache-2.0
"""Every name shared between programs: metrics, dimensions, columns, values, keys, variables.

It imports only its own modules, one for each boundary, so that infrastructure, jobs and tests can
read it without the collector. All of it is public interface: see CHANGELOG.md before changing it.
"""

from kafka_lag.contract.columns import *
from kafka_lag.contract.environment import *
from kafka_lag.contract.events import *
from kafka_lag.contract.metrics import *
from kafka_lag.contract.snapshots import *
from kafka_lag.contract.usual import *
