# SPDX-License-Identifier: Apache-2.0
"""The pages: all clusters, one group, the brokers."""
