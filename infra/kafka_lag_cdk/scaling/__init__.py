# SPDX-License-Identifier: Apache-2.0
"""ECS services that follow the lag of the group they consume as."""
