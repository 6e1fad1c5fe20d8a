# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.compare`: see --help."""

import sys

from dev.compare.command import main

if __name__ == "__main__":
    sys.exit(main())
