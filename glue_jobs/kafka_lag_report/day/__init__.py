# SPDX-License-Identifier: Apache-2.0
"""A day's rows reduced to small frames, once: all that the reports are derived from."""
