# SPDX-License-Identifier: Apache-2.0
"""The day of groups and of their topics in runs weighted by time: what lag reports are made of."""
