# SPDX-License-Identifier: Apache-2.0
"""From the page's rows to what its templates show: sentences, drawings, cells."""
