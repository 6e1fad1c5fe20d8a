# SPDX-License-Identifier: Apache-2.0
"""Metric math: an expression over metrics, evaluated at one time.

Arithmetic, comparisons (1 or 0), IF, FILL with a number, and MAX and MIN of a list in brackets.
Where a metric has no value the result has none, but for FILL, and for the branch of IF that is not
taken. [Amazon CloudWatch user guide, "Using math expressions with CloudWatch metrics".]
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

# What an expression needs of a metric: its value now, and whether any value is in the range.
Values = Mapping[str, float | None]

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_AGGREGATES: dict[str, Callable[[list[float]], float]] = {"MAX": max, "MIN": min}


@dataclass(frozen=True, slots=True)
class Expression:
    """Metric math as it is written: `text`, over the ids of metrics."""

    text: str

    def value(self, values: Values, empty: frozenset[str] = frozenset()) -> float | None:
        """The result at a time at which the metrics have these values, None where it has none.

        `empty`: the metrics that FILL leaves as they are. Raises ValueError for what is not
        modelled.
        """
        return _Evaluation(self.text, values, empty).of(_parse(self.text))

    def names(self) -> Iterator[str]:
        """The ids of the metrics in it."""
        called = {
            node.func.id
            for node in ast.walk(_parse(self.text))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        for node in ast.walk(_parse(self.text)):
            if isinstance(node, ast.Name) and node.id not in called:
                yield node.id


@cache
def _parse(text: str) -> ast.expr:
    """Its tree: of the operators that are modelled the syntax is Python's."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise _not_modelled(text) from error


def _not_modelled(text: str) -> ValueError:
    return ValueError(f"an expression that is not modelled: {text}")


@dataclass(frozen=True, slots=True)
class _Evaluation:
    text: str
    values: Values
    empty: frozenset[str]

    def of(self, node: ast.expr) -> float | None:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name) if name in self.values:
                return self.values[name]
            case ast.BinOp(left=left, op=operation, right=right):
                return self._pair(_ARITHMETIC.get(type(operation)), left, right)
            case ast.Compare(left=left, ops=[comparison], comparators=[right]):
                return self._pair(_COMPARISONS.get(type(comparison)), left, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.of(operand)
                return None if value is None else -value
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, arguments)
            case _:
                raise _not_modelled(self.text)

    def _pair(
        self, operation: Callable[[Any, Any], Any] | None, left: ast.expr, right: ast.expr
    ) -> float | None:
        if operation is None:
            raise _not_modelled(self.text)
        values = self.of(left), self.of(right)
        if values[0] is None or values[1] is None:
            return None
        if operation is operator.truediv and not values[1]:
            return None
        return float(operation(*values))

    def _call(self, name: str, arguments: list[ast.expr]) -> float | None:
        match name, arguments:
            case "IF", [condition, chosen, other]:
                holds = self.of(condition)
                return None if holds is None else self.of(chosen if holds else other)
            case "FILL", [ast.Name(id=metric), constant]:
                value = self.of(arguments[0])
                filled = value is None and metric not in self.empty
                return self.of(constant) if filled else value
            case _, [ast.List(elts=elements)] if name in _AGGREGATES:
                known = [value for value in map(self.of, elements) if value is not None]
                return _AGGREGATES[name](known) if known else None
            case _:
                raise _not_modelled(self.text)
