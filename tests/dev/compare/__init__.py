# SPDX-License-Identifier: Apache-2.0
"""Two commits held together, each kind of answer by a planted difference."""
