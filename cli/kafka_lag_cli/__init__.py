# SPDX-License-Identifier: Apache-2.0
"""The command line that people install; in no Lambda asset."""
