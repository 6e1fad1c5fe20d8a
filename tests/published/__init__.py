# SPDX-License-Identifier: Apache-2.0
"""What other projects publish as their proof, held against ours."""
