# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.live_alarms`."""

import sys

from dev.live_alarms.command import main

if __name__ == "__main__":
    sys.exit(main())
