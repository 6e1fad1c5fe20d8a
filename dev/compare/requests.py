# SPDX-License-Identifier: Apache-2.0
"""Requests over HTTP: those of people and programs each day, and those that should not come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from dev.compare.hostile import NAMES

# What a function URL may be called by, and the token of those who have one.
IAM, BEARER, TOKEN = "iam", "bearer", "correct-horse"
_HOST = "x.lambda-url.eu-west-1.on.aws"
_SIGNED = {"iam": {"userArn": "arn:aws:iam::111122223333:user/grafana"}}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as a client sends it, `signed` by IAM or not; `auth` is how views are set up."""

    path: str
    query: str = ""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    signed: bool = True
    auth: str = IAM

    @property
    def name(self) -> str:
        """What distinguishes it from the others."""
        extra = "".join(f" {name}={value}" for name, value in self.headers.items())
        signed = "" if self.signed else " unsigned"
        auth = "" if self.auth == IAM else f" ({self.auth})"
        return f"{self.method} {self.path}?{self.query[:200]}{extra}{signed}{auth}"

    def event(self) -> dict[str, Any]:
        """As a function URL hands it on, payload 2.0."""
        context: dict[str, Any] = {
            "stage": "$default",
            "requestId": "compared",
            "http": {"method": self.method, "path": self.path, "sourceIp": "192.0.2.1"},
        }
        if self.signed:
            context["authorizer"] = _SIGNED
        return {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": self.path,
            "rawQueryString": self.query,
            "headers": {"host": _HOST, **self.headers},
            "requestContext": context,
            "isBase64Encoded": False,
        }


def requests(cluster: str, group: str, topic: str) -> list[Request]:
    """All of them, about a cluster, a group and a topic that there are."""
    return list({each.name: each for each in _all(cluster, group, topic)}.values())


def _all(cluster: str, group: str, topic: str) -> Iterator[Request]:
    yield from _burrow(cluster, group, topic)
    yield from _metrics(cluster, group)
    yield from _pages(cluster, group, topic)
    yield from _hostile(cluster)
    yield from _ways(cluster, group)
    yield from _by_token(cluster, group)


def _burrow(cluster: str, group: str, topic: str) -> Iterator[Request]:
    for path in ("/burrow/admin", "/burrow/admin/ready", "/v3/kafka", "/v3/config", "/v3/admin"):
        yield Request(path)
    base = f"/v3/kafka/{cluster}"
    for path in (
        *("", "/consumer", "/topic", f"/topic/{topic}", f"/topic/{topic}/consumers"),
        *(f"/consumer/{group}", f"/consumer/{group}/lag", f"/consumer/{group}/status"),
        *("/consumer/nobody/lag", "/topic/nothing", "/nothing", "/consumer/"),
        *(f"/consumer/{group}/nothing", f"/consumer/{group}/lag/"),
    ):
        yield Request(base + path)
    for query in ("offset=0&limit=2", "limit=0", "limit=-1", "limit=x", "offset=99999"):
        yield Request(f"{base}/consumer", query)
        yield Request(f"{base}/topic", query)
    yield Request("/v3/kafka/nowhere/consumer")
    yield Request("/v3")
    yield Request("/v3/")
    yield Request("/v3/kafkas")


def _metrics(cluster: str, group: str) -> Iterator[Request]:
    for query in (
        *("", "level=group", "level=topic", "level=partition", "level=nonsense", "level="),
        *(f"cluster={cluster}", "cluster=nowhere", f"group={group}", "group=nobody"),
        *(f"level=partition&cluster={cluster}", f"level=partition&group={group}"),
        *("shard=0of4", "shard=3of4", "shard=4of4", "shard=0of0", "shard=aofb", "shard=1of99999"),
        *("unknown=1", "level=group&level=topic", "group=%00", "group=" + "x" * 9_000),
        *(f"group={quote(name, safe='')}" for name in NAMES[:12]),
    ):
        yield Request("/metrics", query)
    yield Request("/metrics/")
    yield Request("/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})


def _pages(cluster: str, group: str, topic: str) -> Iterator[Request]:
    for query in (
        *("", "q=a", "status=ERR", "status=WARN", "status=OK", "status=nonsense"),
        *("sort=lag", "sort=-lag", "sort=time_lag", "sort=nonsense", "page=2", "page=-5"),
        *("page=" + "9" * 50, f"cluster={cluster}", "owner=Team+Batch", "refresh=off"),
        *("q=%3Cscript%3E", "q=%00", "q=%ED%A0%80", "=&&&=", "q=" + "a%25" * 2_000),
        *("x=" + "y" * 9_000, "q=a&q=b"),
    ):
        yield Request("/", query)
    for path in (
        *(f"/cluster/{cluster}/group/{group}", f"/cluster/{cluster}/topic/{topic}"),
        *(f"/cluster/{cluster}/group/nobody", f"/cluster/{cluster}/topic/nothing"),
        *("/cluster", f"/cluster/{cluster}", f"/cluster/{cluster}/", "/cluster/nowhere/group/x"),
        *(f"/cluster/{cluster}/group/{group}/", f"/cluster/{cluster}/group", "/nothing/here"),
    ):
        yield Request(path)
    for query in ("sort=lag", "sort=-partition", "page=2", "q=0", "status=STALL", "refresh=off"):
        yield Request(f"/cluster/{cluster}/group/{group}", query)
        yield Request(f"/cluster/{cluster}/topic/{topic}", query)


def _hostile(cluster: str) -> Iterator[Request]:
    for name in NAMES:
        sent = quote(name, safe="")
        yield Request(f"/v3/kafka/{cluster}/consumer/{sent}/lag")
        yield Request(f"/cluster/{cluster}/group/{sent}")
    for name in NAMES[::3]:
        sent = quote(name, safe="")
        yield Request(f"/v3/kafka/{cluster}/topic/{sent}")
        yield Request(f"/cluster/{cluster}/topic/{sent}")
        yield Request(f"/cluster/{cluster}/group/", f"name={sent}")
    for path in (
        *("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//", "//evil.example/", "/\\evil"),
        *("/%00", "/v3/kafka/%00", "/%ED%A0%80", "/%", "/%zz", "/v3/kafka/..%2F..%2Fx/consumer"),
        *("/v3/kafka/a%0d%0aSet-Cookie:%20x=y/", "/robots.txt", "/favicon.ico", "/.git/config"),
        *("/v3/kafka/" + "x" * 5_000, "/" + "/".join("a" * 500), "/cluster/%3Cscript%3E/group/x"),
        *("/V3/KAFKA", "/Metrics", f"/V3/kafka/{cluster}/consumer", "/wp-login.php", "/?", "/;a=b"),
    ):
        yield Request(path)


def _ways(cluster: str, group: str) -> Iterator[Request]:
    lag = f"/v3/kafka/{cluster}/consumer/{group}/lag"
    for method in ("HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
        for path in (lag, "/metrics", "/"):
            yield Request(path, method=method)
    for coding in ("gzip", "identity", "gzip;q=0", "*;q=0", "br, gzip", "deflate"):
        for path in (f"/v3/kafka/{cluster}/consumer", "/metrics", "/"):
            yield Request(path, headers={"accept-encoding": coding})
    for path in (lag, "/metrics", "/", "/burrow/admin", "/nothing"):
        yield Request(path, signed=False)
        yield Request(path, headers={"authorization": "Bearer wrong"}, signed=False)
        yield Request(path, method="HEAD", signed=False)
    yield Request("/", headers={"host": "evil.example"})
    yield Request("/v3/kafka", headers={"host": "evil.example\r\nX: y"})


def _by_token(cluster: str, group: str) -> Iterator[Request]:
    """With views that are set up for a bearer token: the right one, none, and what is near it."""
    bearer = f"Bearer {TOKEN}"
    lag = f"/v3/kafka/{cluster}/consumer/{group}/lag"
    for path in (lag, "/metrics", "/", "/burrow/admin", "/nothing"):
        for method in ("GET", "HEAD", "POST"):
            for headers in ({"authorization": bearer}, {}):
                yield Request(path, method=method, headers=headers, signed=False, auth=BEARER)
        yield Request(path, auth=BEARER)
    for value in (
        *(f"bearer {TOKEN}", f"BEARER  {TOKEN}  ", f" {bearer}", f"{bearer} x", f"{bearer},"),
        *(TOKEN, "Bearer", "Bearer ", "", f"Basic {TOKEN}", f"Bearer {TOKEN.upper()}"),
        *(f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}\0", "Bearer \u00fc"),
        *("Bearer " + "x" * 9_000, f"{bearer}, {bearer}", f'Bearer "{TOKEN}"'),
    ):
        yield Request(lag, headers={"authorization": value}, signed=False, auth=BEARER)
    yield Request(lag, headers={"Authorization": bearer}, signed=False, auth=BEARER)
    yield Request(lag, f"token={TOKEN}", signed=False, auth=BEARER)
