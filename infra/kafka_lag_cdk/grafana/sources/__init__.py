# SPDX-License-Identifier: Apache-2.0
"""The sources that pages are drawn from."""
