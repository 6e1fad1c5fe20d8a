# SPDX-License-Identifier: Apache-2.0
"""One answer from one template: names escaped by Jinja2, scripts and styles allowed by their hash.

Templates come through the package's loader, so that they are found in a zip too.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kafka_lag import contract
from kafka_lag.views.http import Answer
from kafka_lag.views.page import links, words
from kafka_lag.views.page.tables.severity import LOOKS, WORDS

_HTML = "text/html; charset=utf-8"
# Known of no value: a dash for the eye, a word for those who listen.
_DASH = Markup(
    '<span class="none" title="{}"><span aria-hidden="true">\u2013</span>'
    '<span class="unseen">unknown</span></span>'
)
_REASONS = {
    contract.RECORDS_LOST: "records lost",
    contract.BEYOND_END: "commit beyond the end",
    contract.PAUSING: "pausing as usual",
    contract.FALLING_BEHIND: "falling behind",
    contract.SLOW: "catching up too slowly",
    contract.NO_MEMBER: "no member",
    contract.INACTIVE: "inactive",
    contract.GONE: "group deleted",
    contract.DENIED: "not read: access denied",
    contract.NO_LEADER: "not read: no leader",
    contract.NO_COORDINATOR: "not read: no coordinator",
    contract.TIMEOUT: "not read: timed out",
    contract.ERROR: "not read: error",
}


def rendered(template: str, status: int = 200, **context: Any) -> Answer:
    """The template as an answer that no browser keeps, frames, or tells others of."""
    environment = _environment()
    css, js = (_asset(name) for name in ("page.css", "page.js"))
    text = environment.get_template(template).render(css=css, js=js, **context)
    headers = {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(js)}'; "
            "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
    return Answer(status, _HTML, text.encode(), headers)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kafka_lag.views.page", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for show in (words.duration, words.count, words.rate, words.size):
        environment.filters[show.__name__] = _or_dash(show)
    plain = (words.name, words.iso, words.moment, words.since, words.margin, words.spaced)
    for said in (*plain, words.state, words.blamed):
        environment.filters[said.__name__] = said
    environment.filters |= {"reason": _reason}
    environment.globals |= {
        "dash": _DASH.format,
        "link": links.link,
        "plural": words.plural,
        "LOOKS": LOOKS,
        "WORDS": WORDS,
        "NO_LOSS": contract.NO_LOSS_SECONDS,
        "UNSUPPORTED": contract.UNSUPPORTED_GROUP_TYPES,
    }
    return environment


@cache
def _asset(name: str) -> Markup:
    """A file beside the templates as it stands."""
    environment = _environment()
    if environment.loader is None:
        raise LookupError(name)
    return Markup(environment.loader.get_source(environment, name)[0])  # noqa: S704, our own file


@cache
def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _or_dash(show: Callable[[Any], str | None]) -> Callable[..., str]:
    def shown(value: Any, why: str = "unknown") -> str:
        text = show(value)
        return _DASH.format(why) if text is None else text

    return shown


def _reason(word: str) -> str:
    """Why a row has the status it has, or none; a word of a later version as it is."""
    return _REASONS.get(word, words.spaced(word))
