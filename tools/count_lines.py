"""Count the lines of code of the library: no comment, no docstring, no blank line.

python -m tools.count_lines           per package and in total
python -m tools.count_lines --files   per file, too
"""

import argparse
import ast
import io
import tokenize
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LIBRARY = Path(__file__).resolve().parents[1] / "lib"
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.count_lines")
    parser.add_argument("--files", action="store_true", help="one row for each file, too")
    lines = {
        path.relative_to(LIBRARY): count_lines(path.read_text(encoding="utf-8"))
        for path in sorted(LIBRARY.rglob("*.py"))
    }
    if parser.parse_args(arguments).files:
        for name, count in lines.items():
            print(f"{count:7,}  {name}")
    packages: Counter[str] = Counter()
    for name, count in lines.items():
        packages[".".join(name.parts[:2]).removesuffix(".py")] += count
    for package, count in packages.most_common():
        print(f"{count:7,}  {package}")
    print(f"{sum(lines.values()):7,}  total")


def count_lines(source: str) -> int:
    """Lines that hold code; a docstring is none, other strings are."""
    docstrings = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE and token.start not in docstrings:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


if __name__ == "__main__":
    main()
