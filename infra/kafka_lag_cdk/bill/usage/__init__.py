# SPDX-License-Identifier: Apache-2.0
"""How much of each thing AWS charges for, from a configuration alone."""
