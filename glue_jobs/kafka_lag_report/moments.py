# SPDX-License-Identifier: Apache-2.0
"""When in the day a value was first, last or least: seconds of the UTC day. SQL, of aggregates."""

_DAY_SECONDS = 86_400
# Values above are alike: with the second they fill a long.
_LARGEST = 1 << 45

# Seconds of the UTC day of `taken_at`.
CLOCK = f"pmod(unix_seconds(taken_at), {_DAY_SECONDS})"


def first_and_last(value: str) -> dict[str, str]:
    """The value where it was first and last known, when (`second`s), and how often it was."""
    known = f"IF({value} IS NULL, NULL, second)"
    return {
        "first": f"min_by({value}, {known})",
        "last": f"max_by({value}, {known})",
        "first_at": f"min({known})",
        "last_at": f"max({known})",
        "times": f"count({value})",
    }


def at_first_least(name: str, value: str) -> str:
    """The column where `value`, a whole number >= 0, was least, at the first such `second`.

    Null where no value is known.
    """
    # one number to order by: with a struct Spark would sort all rows
    order = f"least({value}, {_LARGEST}) * {_DAY_SECONDS} + second"
    return f"min_by({name}, IF({value} IS NULL, NULL, {order}))"
