# SPDX-License-Identifier: Apache-2.0
"""From which value on something is a finding: each limit of the report, with its reason.

What is unusual for an hour stands in `kafka_lag.contract`: the collector judges by it too.
"""

from kafka_lag.contract import NO_LOSS_SECONDS

# Skew: the largest of a topic's partitions to the mean. mean / max is the part of the consumers'
# capacity that is usable while the top partition is the bottleneck; at 1.5 a third lies idle. It
# means the same for 2 partitions and for 200; "more than 2 sigma" cannot fire for five or fewer.
SKEW_FACTOR = 1.5
# Records above the mean: they fall on partitions by chance too (Poisson: deviation sqrt(mean)). 100
# above a mean of 200 is 7 deviations, above a smaller mean more; 3 records to 1 are no finding.
LAG_EXCESS = 100.0
# A produce rate is a moving average with a half-life of 5 minutes: what it makes in that time.
RATE_SECONDS = 300
RATE_EXCESS = LAG_EXCESS / RATE_SECONDS
# After twelve half-lives a four thousandth of a jump is left in it.
RATE_FORGETS_SECONDS = 3600
# Of the excess lag that a cause must explain, and of a broker's or member's partitions in excess.
MOST = 2 / 3

# How long a single run of a day stands, where no pause is known.
LONE_RUN_SECONDS = 60.0

# Hot: lag a partition to that of all others. Of two, the one with three quarters of the lag.
HOT_FACTOR = 3.0

# Groups of which the hour of the week says little: half of their hours lie so far off the same hour
# of other weeks, or runs of two weeks lay so many spreads above what was usual. Random bursts do,
# and a job that begins some minutes earlier or later. `dev.sim.scorers.unusual` measures
# what it is worth.
IRREGULAR_PART = 0.25
NEARLY_FAR = 3.5
# Records written in single runs lie so much farther apart than `produce_rate`, a moving average
# with a half-life of five runs: the root of (2 - w) / w, w being the weight of a run, 1 - 2^(-1/5).
SINGLE_RUN = 3.8

# So many groups that are alike in one hour are the cluster's day, not each one's: a holiday, a
# month's end.
MANY_GROUPS = 3
# A produce rate is a moving average: of an hour's excess an eighth falls into the hour after it.
TAIL_PART = 0.2
# What an incident left behind is worked off within so long, and is in the mean of the last hour.
AFTERWARDS_SECONDS = 7200

# Of the day's runs: fewer are a gap. 15 minutes of a day may be missed by deploys and retries.
SEEN_SHARE = 0.99
# With fewer every other number of the day is in doubt.
DOUBTFUL_SHARE = 0.9
# A gap lasts longer than so many intervals: one or two runs are missed at any deploy.
GAP_INTERVALS = 3
# Of a single run no interval is known; no schedule has a longer one.
LONGEST_INTERVAL = 3600.0

# Minutes of a day that move none of its percentiles by more than a hundredth of the ranks.
FEW_MINUTES = 10.0
# A run or two are missed at any deploy.
WHOLE_DAY_MINUTES = 1_440 - FEW_MINUTES

# Shorter incidents in WARN are notices. WARN means that a backlog did not shrink for a window, or
# takes SLOW_FROM_AGES times its age (contract): a peak or a deploy is over within the hour.
LONG_WARN_MINUTES = 60.0

# A commit that did not move for so long stands: the collector's window, unless it is configured.
STILL_SECONDS = 600
# Too many rebalances: so many runs of an hour see one, or half of those that there are. Pods that
# are replaced one by one cost some five.
RESTLESS_SECONDS = 3600
RESTLESS_RUNS = 10
# Beginnings or ends no farther apart are one matter: a group at its worst, or one that is deleted.
SAME_INCIDENT_SECONDS = 600.0
# Brokers end a transaction after at most so long (`transaction.max.timeout.ms`), unless they were
# given more: what is open for longer hangs, or holds its readers up by intention.
LONG_TRANSACTION_SECONDS = 900
# Spells of each kind: more of them nobody reads.
MOST_SPELLS = 50_000
# What was not read for less than this is no incident: the collector counts on for as long.
UNKNOWN_SECONDS = 600.0

# Compliance from here on is all of the time: a sum of doubles may miss 1 by its last digits.
SLA_MET = 1 - 1e-9
# What the contract says where nothing will be lost is no time left.
NO_LOSS = NO_LOSS_SECONDS
