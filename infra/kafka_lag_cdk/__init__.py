# SPDX-License-Identifier: Apache-2.0
"""The CDK app: one stack a region that clusters share, one stack a cluster."""
