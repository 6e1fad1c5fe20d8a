# SPDX-License-Identifier: Apache-2.0
"""Defines the limits from which a value becomes a finding of the report, each with its reason.

Limits for unusual hours are in `kafka_lag.contract`, because the collector uses them too.
"""

from kafka_lag.contract import NO_LOSS_SECONDS

# A topic is skewed if its largest partition has this many times the mean. mean / max is the part of
# the consumers' capacity that is usable while the top partition is the bottleneck; at 1.5 a third
# is idle. The factor means the same for 2 and for 200 partitions. A rule of "more than 2 sigma"
# cannot apply to five partitions or fewer.
SKEW_FACTOR = 1.5
# The largest partition must also be this many records above the mean, because records fall on
# partitions by chance too (Poisson: deviation sqrt(mean)). 100 above a mean of 200 is 7 deviations,
# above a smaller mean more. A partition with 3 records beside one with 1 is not a finding.
LAG_EXCESS = 100.0
# A produce rate is a moving average with a half-life of 5 minutes. Its excess is counted over this
# time, in seconds.
RATE_SECONDS = 300
RATE_EXCESS = LAG_EXCESS / RATE_SECONDS
# After twelve half-lives a jump has faded from the rate to a four-thousandth.
RATE_FORGETS_SECONDS = 3600
# Share of the excess lag that a cause must explain. Of a broker's or member's partitions, this
# share must have excess lag.
MOST = 2 / 3

# How long the values of a day's only run are valid, because no interval is known.
LONE_RUN_SECONDS = 60.0

# A broker or member is hot if its lag per partition is this many times that of all others. Of two,
# one is hot if it has three quarters of the lag.
HOT_FACTOR = 3.0

# Groups that do not follow the hour of the week: half of their hours differ by this share from the
# same hour of other weeks, or runs of two weeks were this many spreads above the usual value.
# Examples are random bursts, and a job that begins some minutes earlier or later.
# docs/migrating.md has what the rule was worth.
IRREGULAR_PART = 0.25
NEARLY_FAR = 3.5
# Records written in single runs vary by this factor more than `produce_rate`, a moving average with
# a half-life of five runs: the root of (2 - w) / w, w being the weight of a run, 1 - 2^(-1/5).
SINGLE_RUN = 3.8

# If this many groups are unusual in the same hour, the cause is the cluster's day, such as a
# holiday or the end of a month.
MANY_GROUPS = 3
# A produce rate is a moving average, so an eighth of an hour's excess appears in the next hour.
TAIL_PART = 0.2
# Time in which the backlog of an incident is worked off. It also affects the mean of the last hour.
AFTERWARDS_SECONDS = 7200

# A smaller share of the day's runs is a gap. Deploys and retries may cost 15 minutes a day.
SEEN_SHARE = 0.99
# A smaller share of runs makes every other number of the day doubtful.
DOUBTFUL_SHARE = 0.9
# A gap is longer than this many intervals, because any deploy costs one or two runs.
GAP_INTERVALS = 3
# The interval of a day with a single run, in seconds. No schedule has a longer one.
LONGEST_INTERVAL = 3600.0

# This many minutes of a day move its percentiles by at most a hundredth of the ranks.
FEW_MINUTES = 10.0
# A day with this many known minutes counts as known as a whole, because deploys cost some runs.
WHOLE_DAY_MINUTES = 1_440 - FEW_MINUTES

# Shorter incidents in WARN are notices. WARN means that a backlog did not shrink for a window, or
# takes SLOW_FROM_AGES times its age (contract). A peak or a deploy is over within an hour.
LONG_WARN_MINUTES = 60.0

# A commit that did not move for this long is stuck. This is the collector's default window.
STILL_SECONDS = 600
# A group rebalances too often if this many runs of an hour see a rebalance, or half of the runs if
# there are few. Replacing pods one by one costs about five.
RESTLESS_SECONDS = 3600
RESTLESS_RUNS = 10
# Two events of a group this close together are one incident, such as a failure and its deletion.
SAME_INCIDENT_SECONDS = 600.0
# Brokers end a transaction after this time by default (`transaction.max.timeout.ms`). A transaction
# that is open for longer hangs, or makes its readers wait on purpose.
LONG_TRANSACTION_SECONDS = 900
# Most spells of each kind that are read; nobody reads more incidents.
MOST_SPELLS = 50_000
# A group or topic that is unread for less time is not an incident: the collector still counts it.
UNKNOWN_SECONDS = 600.0

# The SLA was met all the time from this share on: a sum of doubles may miss 1 by its last digits.
SLA_MET = 1 - 1e-9
# The contract's value for "nothing will be lost" is not a time left.
NO_LOSS = NO_LOSS_SECONDS
