# SPDX-License-Identifier: Apache-2.0
"""The CDK app, but with functions packed for this Python and machine, where they are run."""

from __future__ import annotations

import sys

from kafka_lag_cdk.app import main
from kafka_lag_cdk.packaging import Target, build

if __name__ == "__main__":
    sys.exit(main(build(Target.here())))
