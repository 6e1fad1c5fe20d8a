# SPDX-License-Identifier: Apache-2.0
"""The collector, tested with fakes of its edges."""
