# SPDX-License-Identifier: Apache-2.0
"""Other projects' published test cases, compared with our results."""
