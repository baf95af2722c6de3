"""Mutants of a source: copies with one small change, which its tests should notice.

The changes are another comparison, arithmetic sign, constant, extreme or branch, an operand
without its ``not`` or minus, and a statement such as ``x -= y`` left out.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["Mutant", "mutants_of"]

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
EXTREMES = {
    "min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "minimum": "maximum",
    "maximum": "minimum",
}  # fmt: skip
# What computes nothing: types, decorators, default values of arguments, messages.
SKIPPED_FIELDS = {"annotation", "decorator_list", "defaults", "kw_defaults", "returns"}
Change = tuple[str, ast.expr | ast.stmt, ast.expr | ast.stmt]


@dataclass(frozen=True)
class Mutant:
    """One change of a source: its bytes from `start` to `end` become `text`.

    Attributes
    ----------
    line : int
        The line where the change begins, counted from 1.
    operator : str
        The kind of the change.
    start, end : int
        The bytes of the source that are replaced.
    text : str
        What replaces them.
    """

    line: int
    operator: str
    start: int
    end: int
    text: str

    def applied_to(self, source: bytes) -> bytes:
        """Return the source with the change.

        Parameters
        ----------
        source : bytes
            The source that the mutant was made of.

        Returns
        -------
        bytes
            The changed source.
        """
        return source[: self.start] + self.text.encode() + source[self.end :]

    def lines(self, source: bytes) -> tuple[str, str]:
        """Return the lines of the change, each statement on one line.

        Parameters
        ----------
        source : bytes
            The source that the mutant was made of.

        Returns
        -------
        before, after : str
            The lines without and with the change.
        """
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end) % (len(source) + 1)
        after = source[first : self.start] + self.text.encode() + source[self.end : last]
        before, after = (b" ".join(text.split()) for text in (source[first:last], after))
        return before.decode(), after.decode()


def mutants_of(source: bytes) -> list[list[Mutant]]:
    """Return every mutant of a source.

    Parameters
    ----------
    source : bytes
        Python code.

    Returns
    -------
    list of list of Mutant
        One list for each place that can be changed, in the order of the text.

    Examples
    --------
    >>> [[(one.operator, one.text) for one in place] for place in mutants_of(b"a < b - 3")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [[('comparison', '(a <= b - 3)')],
     [('arithmetic', '(b + 3)')],
     [('constant', '(4)'), ('constant', '(6)'), ('constant', '(0)')]]
    """
    starts = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]
    places = []
    for node in _computing(ast.parse(source)):
        place = []
        for operator, old, new in _changes(node):
            start = starts[old.lineno - 1] + old.col_offset
            end = starts[(old.end_lineno or 1) - 1] + (old.end_col_offset or 0)
            text = ast.unparse(new) if isinstance(new, ast.stmt) else f"({ast.unparse(new)})"
            place.append(Mutant(old.lineno, operator, start, end, text))
        if place:
            places.append(place)
    return places


def _computing(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one that take part in a computation."""
    for field, value in ast.iter_fields(node):
        if field in SKIPPED_FIELDS:
            continue
        for child in value if isinstance(value, list) else [value]:
            # Texts in braces have no place of their own before Python 3.12.
            if isinstance(child, ast.AST) and not isinstance(child, ast.Raise | ast.JoinedStr):
                yield child
                yield from _computing(child)


def _changes(node: ast.AST) -> Iterator[Change]:
    """The kind of each change at a node, what it replaces, and by what."""
    match node:
        case ast.Compare(ops=operators):
            for i, operator in enumerate(operators):
                if type(operator) in SWAPS:
                    changed = [*operators[:i], SWAPS[type(operator)](), *operators[i + 1 :]]
                    yield "comparison", node, _with(node, ops=changed)
        case ast.BinOp(op=operator) if type(operator) in SWAPS:
            yield "arithmetic", node, _with(node, op=SWAPS[type(operator)]())
        case ast.AugAssign(op=operator):
            yield "deletion", node, ast.Pass()
            if type(operator) in SWAPS:
                yield "arithmetic", node, _with(node, op=SWAPS[type(operator)]())
        case ast.BoolOp(op=operator):
            yield "logic", node, _with(node, op=SWAPS[type(operator)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "negation", node, operand
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "sign", node, operand
        case ast.IfExp(body=body, orelse=orelse):
            yield "branch", node, _with(node, body=orelse, orelse=body)
        case ast.If(test=test):
            yield "branch", test, ast.UnaryOp(op=ast.Not(), operand=test)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            for other in dict.fromkeys((value + 1, 2 * value, 0)):
                if other != value:
                    yield "constant", node, ast.Constant(value=other)
        case ast.Name(id=name, ctx=ast.Load()) if name in EXTREMES:
            yield "extreme", node, _with(node, id=EXTREMES[name])
        case ast.Attribute(attr=name) if name in EXTREMES:
            yield "extreme", node, _with(node, attr=EXTREMES[name])


def _with(node: ast.expr | ast.stmt, **fields: object) -> ast.expr | ast.stmt:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
