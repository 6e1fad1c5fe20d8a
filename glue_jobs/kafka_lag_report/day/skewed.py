# SPDX-License-Identifier: Apache-2.0
"""When a topic counts as skewed: its top partition holds far more than an even share.

That is max / mean >= SKEW_FACTOR, and at least an excess of records more than the mean.

- Why a ratio to the mean: mean / max is the part of the consumers' capacity that is usable while
  the top partition is the bottleneck. At 1.5 a third of it lies idle. It means the same for 2
  partitions and for 200; "more than 2 sigma" cannot fire at all for five or fewer.
- Why a least excess: records fall on partitions by chance too (Poisson: deviation sqrt(mean)). 100
  above a mean of 200 is 7 deviations, above a smaller mean more; 3 records to 1 are no finding.
"""

from pyspark.sql import Column
from pyspark.sql import functions as sf

SKEW_FACTOR = 1.5
LAG_EXCESS = 100.0

# A produce rate is a moving average with a half-life of 5 minutes: what it makes in that time.
RATE_SECONDS = 300
RATE_EXCESS = LAG_EXCESS / RATE_SECONDS


def skewed(top: Column, total: Column, count: Column, excess: float) -> Column:
    """Whether the top of `count` values is far above their mean; null when there are none."""
    mean = sf.try_divide(total.cast("double"), count)
    return sf.when(count > 0, (top >= SKEW_FACTOR * mean) & (top - mean >= excess))
