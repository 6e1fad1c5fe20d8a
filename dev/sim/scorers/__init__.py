# SPDX-License-Identifier: Apache-2.0
"""What of the collector's answers about cases is right, each sort of answer by a scorer."""
