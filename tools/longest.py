"""Print the ten longest files and the ten longest functions below some directories: for the eye, never a failure."""

import ast
import sys
from collections.abc import Iterable
from pathlib import Path


def longest_files(files: Iterable[Path]) -> list[tuple[int, str]]:
    return sorted(((len(file.read_text().splitlines()), str(file)) for file in files), reverse=True)[:10]


def longest_functions(files: Iterable[Path]) -> list[tuple[int, str]]:
    found = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                found.append((length, f"{file}:{node.lineno} {node.name}"))
    return sorted(found, reverse=True)[:10]


def main() -> None:
    files = [file for directory in sys.argv[1:] for file in Path(directory).rglob("*.py")]
    for title, rows in (("files", longest_files(files)), ("functions", longest_functions(files))):
        print(f"longest {title}")
        for length, name in rows:
            print(f"{length:6,}  {name}")


if __name__ == "__main__":
    main()
