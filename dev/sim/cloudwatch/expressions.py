# SPDX-License-Identifier: Apache-2.0
"""Metric math: an expression over metrics, evaluated at one time.

It knows arithmetic, comparisons (1 or 0), IF, FILL with a number, and MAX and MIN of a list in
brackets. If a metric has no value, the result has none, except for FILL and for the branch of IF
that is not taken. [Amazon CloudWatch user guide, "Using math expressions with CloudWatch metrics".]
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

# The present value of each metric, None if it is missing.
Values = Mapping[str, float | None]

_OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_AGGREGATES: Mapping[str, Callable[[list[float]], float]] = {"MAX": max, "MIN": min}


@dataclass(frozen=True, slots=True)
class Expression:
    """Metric math as it is written: `text`, over the ids of metrics."""

    text: str

    def value(self, values: Values, empty: frozenset[str] = frozenset()) -> float | None:
        """Returns the result for these values of the metrics, None without a result.

        `empty` are the metrics that FILL leaves as they are. Raises ValueError for an expression
        that is not modelled.
        """
        return self._find(_parse(self.text), values, empty)

    def names(self) -> Iterator[str]:
        """Yields the ids of the metrics in it."""
        nodes = list(ast.walk(_parse(self.text)))
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        yield from (n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in called)

    def _find(self, node: ast.expr, values: Values, empty: frozenset[str]) -> float | None:
        def of(inner: ast.expr) -> float | None:
            return self._find(inner, values, empty)

        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name) if name in values:
                return values[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = of(operand)
                return None if value is None else -value
            case ast.BinOp(left, operation, right) | ast.Compare(left, [operation], [right]):
                first, second = of(left), of(right)
                if type(operation) in _OPERATORS:
                    divides = isinstance(operation, ast.Div)
                    if first is None or second is None or (divides and not second):
                        return None
                    return float(_OPERATORS[type(operation)](first, second))
            case ast.Call(func=ast.Name("IF"), args=[condition, chosen, other]):
                holds = of(condition)
                return None if holds is None else of(chosen if holds else other)
            case ast.Call(func=ast.Name("FILL"), args=[ast.Name(id=metric) as name, constant]):
                value = of(name)
                return of(constant) if value is None and metric not in empty else value
            case ast.Call(func=ast.Name(name), args=[ast.List(elts=elements)]):
                known = [value for value in map(of, elements) if value is not None]
                if name in _AGGREGATES:
                    return _AGGREGATES[name](known) if known else None
        raise _not_modelled(self.text)


@cache
def _parse(text: str) -> ast.expr:
    """Its tree: of the operators that are modelled the syntax is Python's."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise _not_modelled(text) from error


def _not_modelled(text: str) -> ValueError:
    return ValueError(f"an expression that is not modelled: {text}")
