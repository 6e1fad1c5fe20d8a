# SPDX-License-Identifier: Apache-2.0
"""The monthly bill of a configuration, before a deploy: `python -m kafka_lag_cdk.bill`."""
