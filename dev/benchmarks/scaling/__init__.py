# SPDX-License-Identifier: Apache-2.0
"""Services scaled in a closed loop: planted loads, the real `evaluate`, models of AWS's parts."""
