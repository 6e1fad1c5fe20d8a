# SPDX-License-Identifier: Apache-2.0
"""The zips that are deployed."""
