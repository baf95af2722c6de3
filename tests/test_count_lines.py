"""What counts as a line of code."""

import pytest

from tools import count_lines as module
from tools.count_lines import count_lines, main


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", 0),
        ('"""Module."""\n\n# comment\n\nx = 1  # why\n', 1),
        ('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n', 2),
        ('class A:\n    """Doc."""\n\n    x: int = 0\n', 2),
        ('text = """a\n\n# no comment\n"""\n', 4),
        ("f(\n    1,\n\n    # why\n    2,\n)\n", 4),
        ('x = 1\n"""a string that documents nothing"""\n', 2),
        ('def f(): """Doc."""; return 1\n', 1),
    ],
    ids=[
        "empty",
        "module",
        "function",
        "class",
        "string",
        "call",
        "expression",
        "docstring beside code",
    ],
)
def test_only_lines_that_hold_code_count(source, expected):
    assert count_lines(source) == expected


def test_packages_and_files_add_up(tmp_path, monkeypatch, capsys):
    (tmp_path / "book" / "part").mkdir(parents=True)
    (tmp_path / "book" / "part" / "one.py").write_text("x = 1\ny = 2\n", encoding="utf-8")
    (tmp_path / "book" / "part" / "two.py").write_text("z = 3\n", encoding="utf-8")
    (tmp_path / "book" / "alone.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(module, "LIBRARY", tmp_path)
    main([])
    assert capsys.readouterr().out.split() == ["3", "book.part", "1", "book.alone", "4", "total"]
    main(["--files"])
    assert "book/part/two.py" in capsys.readouterr().out
