# SPDX-License-Identifier: Apache-2.0
"""The monthly bill of a configuration, before anything is deployed: `python -m kafka_lag_cdk.bill`."""
