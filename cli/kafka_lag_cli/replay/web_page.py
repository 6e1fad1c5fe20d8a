# SPDX-License-Identifier: Apache-2.0
"""A replay as one HTML page that needs nothing else: a timeline for each group that pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kafka_lag.errors import ConfigError
from kafka_lag.views.html_templates import make_environment
from kafka_lag.wording.formatting import escape_name, format_duration, format_minute, question_mark
from kafka_lag_cli.replay.output import summarise
from kafka_lag_cli.replay.pages import ASSUMED
from kafka_lag_cli.replay.replayed import Replay
from kafka_lag_cli.replay.timelines import HEIGHT, WIDTH, draw_timelines, find_days
from kafka_lag_cli.tasks.policy import DELAY_MINUTES


def render_page(replays: Sequence[Replay]) -> str:
    """The page; names are strangers' and escaped."""
    environment = make_environment("kafka_lag_cli.replay")
    environment.filters |= {
        "duration": format_duration,
        "minute": format_minute,
        "name": lambda name: escape_name(name, question_mark, "''"),
    }
    clusters = []
    for replay in replays:
        timelines, left_out = draw_timelines(replay)
        clusters.append(
            {
                "name": replay.cluster,
                "begin": replay.recorded.begin,
                "end": replay.recorded.time(len(replay.recorded.has_run) - 1),
                "summary": summarise(replay),
                "compared": replay.before is not None,
                "timelines": timelines,
                "groups_left_out": left_out,
                "days": find_days(replay),
                "not_replayed": replay.after.left_out,
            }
        )
    template = environment.get_template("replay.html.j2")
    return template.render(
        clusters=clusters,
        width=WIDTH,
        height=HEIGHT,
        delay_minutes=DELAY_MINUTES,
        extra_points=ASSUMED.extra_points,
    )


def write_page(replays: Sequence[Replay], path: Path) -> None:
    """Writes the page whole, or leaves what is there. Raises ConfigError."""
    page = render_page(replays)
    part = path.with_name(f".{path.name}.part")
    try:
        try:
            part.write_text(page, "utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error
