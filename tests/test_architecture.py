"""The rules of the house, held by walking the source: who imports whom, what is never called, what everything has."""

import ast
import dataclasses
import re
import subprocess
import sys
import time
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.config import Config, bounds_of, setting

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "dragoman"

ROW = {
    "core": 1,
    **dict.fromkeys(("corpus", "documents", "model", "telemetry", "theory"), 2),
    **dict.fromkeys(("checkpoints", "batching"), 3),
    "decoding": 4,
    **dict.fromkeys(("training", "export"), 5),
    **dict.fromkeys(("report", "planner", "watch", "serve", "cluster"), 6),
    "cli": 7,
}
"""A room imports only from rows below its own."""

TORCH_ROOMS = {"model", "checkpoints", "batching", "decoding", "training", "export"}

HOMES = {
    "numpy": set(ROW) - {"core"},
    "torch": TORCH_ROOMS,
    "sentencepiece": {"corpus"},
    "zstandard": {"corpus"},
    "rich": {"cli", "watch"},
    "safetensors": {"checkpoints"},
    "sacrebleu": {"decoding"},
    "psutil": {"telemetry"},
    "pynvml": {"telemetry"},
    "tensorboard": {"telemetry", "report"},
    "google": {"report"},  # protobuf, which comes with TensorBoard
    "ctranslate2": {"export", "serve"},
    "shtab": {"cli"},
    "msgspec": {"report"},
    **{name: {"serve"} for name in ("starlette", "uvicorn", "h11", "prometheus_client", "py3langid")},
}
"""Which rooms may import a third-party library: one place to change when the library does."""

FRONT_DOOR = "dragoman.__init__", "dragoman.export.engine.Translator"
"""What people import by name; loaded when it is asked for."""

MAX_SETTINGS = 81


@dataclasses.dataclass(frozen=True)
class Module:
    """A source file as the rules see it; `name` is dotted and ends in __init__ for a package's own file."""

    name: str
    source: str

    @property
    def room(self) -> str:
        """The folder under dragoman, "" for the package's own files; `python -m dragoman` is the command line."""
        parts = self.name.split(".")
        return "cli" if parts[1] == "__main__" else parts[1] if len(parts) > 2 else ""

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)


def modules_below(directory: Path, package: str) -> list[Module]:
    return [
        Module(".".join((package, *file.relative_to(directory).with_suffix("").parts)), file.read_text())
        for file in sorted(directory.rglob("*.py"))
    ]


OURS = modules_below(PACKAGE, "dragoman")
EVERYTHING = [
    *OURS,
    *(module for name in ("tests", "tools", "benchmarks") for module in modules_below(ROOT / name, name)),
]


def imports_of(module: Module) -> Iterator[str]:
    """The full name of everything imported anywhere in a module: in functions and under TYPE_CHECKING too."""
    package = module.name.split(".")[:-1]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = package[: len(package) + 1 - node.level] if node.level else []
            origin = [*around, *([node.module] if node.module else [])]
            yield from (".".join([*origin, alias.name]) for alias in node.names)
        elif isinstance(node, ast.Call) and called(node).split(".")[-1] in ("import_module", "__import__"):
            yield from (a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str))


def called(call: ast.Call) -> str:
    """What a call calls, as it is written: `os.system`."""
    return ast.unparse(call.func)


def forbidden_room_imports(module: Module) -> Iterator[str]:
    """Imports of a room that does not lie below."""
    for name in imports_of(module):
        there = name.split(".")[1] if name.startswith("dragoman.") else ""
        if (module.name, name) == FRONT_DOOR:
            continue
        if not there or there == module.room or there.startswith("__"):  # dragoman.__version__ is everybody's
            continue
        for room in (module.room, there):
            if room and room not in ROW:
                yield f"{module.name}: the room {room} is unknown; give it a row in ROW and in docs/ARCHITECTURE.md"
                break
        else:
            if ROW[there] >= ROW.get(module.room, 0):
                yield f"{module.name}: {module.room or 'the package itself'} may not import {there}"


def homeless_imports(module: Module) -> Iterator[str]:
    """Third-party libraries imported outside the rooms that they belong to."""
    for library in sorted({name.split(".")[0] for name in imports_of(module)}):
        if library in sys.stdlib_module_names or library == "dragoman":
            continue
        if library not in HOMES:
            yield f"{module.name}: {library} has no home; give it one room in HOMES"
        elif module.room not in HOMES[library]:
            yield f"{module.name}: {library} belongs to {' and '.join(sorted(HOMES[library]))}, not to {module.room}"


DANGEROUS_LIBRARIES = {"pickle", "cPickle", "cloudpickle", "dill", "shelve", "marshal", "joblib"}
DANGEROUS_CALLS = {"eval", "exec", "os.system", "os.popen", "torch.load"}
DANGEROUS_COLLECTIVES = {
    "all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list", "send_object_list",
    "recv_object_list",
}  # fmt: skip
"""They pickle what they send, and run what they receive."""
DANGEROUS_ARGUMENTS = {"shell", "allow_pickle"}


def dangers(module: Module) -> Iterator[str]:
    """Ways for a file or a word from outside to run as code."""
    for name in imports_of(module):
        if name.split(".")[0] in DANGEROUS_LIBRARIES or name in DANGEROUS_CALLS:
            yield f"{module.name}: imports {name}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            name = called(node).removeprefix("builtins.")
            if name in DANGEROUS_CALLS or name.split(".")[-1] in DANGEROUS_COLLECTIVES:
                yield f"{module.name}:{node.lineno}: calls {called(node)}"
            for keyword in node.keywords:
                is_off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                if keyword.arg in DANGEROUS_ARGUMENTS and not is_off:
                    yield f"{module.name}:{node.lineno}: passes {ast.unparse(keyword)}"


BANNED_WORDS = re.compile(r"(Manager|Helper|Handler|Util|Utils|Utility|Utilities|Factory|Processor)s?")
BANNED_FILES = {"utils", "util", "helpers", "helper", "misc"}


def empty_names(module: Module) -> Iterator[str]:
    """Names that say nothing about what a thing is."""
    for part in BANNED_FILES.intersection(module.name.split(".")):
        yield f"{module.name}: {part} is a drawer; put each thing in the room that owns its noun"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", node.name):
                if BANNED_WORDS.fullmatch(word):
                    yield f"{module.name}:{node.lineno}: {node.name} says nothing; which noun of the trade is it?"


def bare_notes(module: Module) -> Iterator[str]:
    """Notes to oneself without an open issue, such as #12 in brackets, behind them."""
    for number, line in enumerate(module.source.splitlines(), start=1):
        if re.search(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b(?!\(#\d+\))", line):
            yield f"{module.name}:{number}: {line.strip()}"


def missing_docstrings(module: Module) -> Iterator[str]:
    """Modules that do not say what they are; an empty __init__.py outside the package has nothing to say."""
    is_mere_marker = module.name.endswith(".__init__") and not module.source and not module.name.startswith("dragoman.")
    if not is_mere_marker and not (ast.get_docstring(module.tree) or "").strip():
        yield f"{module.name} does not say what it is; begin it with a docstring"


def settings_of(section: Any, path: str = "") -> Iterator[tuple[str, "dataclasses.Field[Any]"]]:
    """Every setting below a dataclass with its full name; the entries of a list count once."""
    hints = typing.get_type_hints(section)
    for field in dataclasses.fields(section):
        kind, name = hints[field.name], f"{path}{field.name}"
        if dataclasses.is_dataclass(kind):
            yield from settings_of(kind, f"{name}.")
            continue
        yield name, field
        for element in typing.get_args(kind):
            if dataclasses.is_dataclass(element):
                yield from settings_of(element, f"{name}[].")


def unexplained(section: Any) -> Iterator[str]:
    for name, field in settings_of(section):
        if "bounds" not in field.metadata or not bounds_of(field).explanation.strip():
            yield f"{name} has no explanation; make it with setting(default, explanation)"


def faults(rule: typing.Callable[[Module], Iterable[str]], modules: Iterable[Module]) -> list[str]:
    return [fault for module in modules for fault in rule(module)]


# The house as it stands


def test_there_is_source_to_look_at() -> None:
    assert {"dragoman.__init__", "dragoman.core.config"} <= {module.name for module in OURS}


def test_every_room_has_a_row() -> None:
    unknown = {module.room for module in OURS} - set(ROW) - {""}
    assert not unknown, f"give these rooms a row in ROW and in docs/ARCHITECTURE.md: {sorted(unknown)}"


def test_a_room_imports_only_from_lower_rows() -> None:
    assert faults(forbidden_room_imports, OURS) == []


def test_libraries_are_imported_where_they_belong() -> None:
    assert faults(homeless_imports, OURS) == []


def test_nothing_from_outside_can_run_as_code() -> None:
    assert faults(dangers, OURS) == []


def test_names_say_what_a_thing_is() -> None:
    assert faults(empty_names, OURS) == []


def test_no_note_to_oneself_is_left() -> None:
    assert faults(bare_notes, EVERYTHING) == []


def test_every_module_says_what_it_is() -> None:
    assert faults(missing_docstrings, EVERYTHING) == []


def test_every_setting_explains_itself() -> None:
    assert list(unexplained(Config)) == []


def test_settings_stay_few() -> None:
    names = [name for name, _ in settings_of(Config)]
    assert len(names) <= MAX_SETTINGS, f"{len(names)} settings; drop one that no recipe uses before adding another"


def test_the_command_line_starts_without_the_heavy_libraries() -> None:
    program = "import sys, dragoman.cli.main; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    loaded = set(found.stdout.split())
    assert "dragoman" in loaded
    assert not loaded & {"torch", "numpy", "rich", "sentencepiece", "zstandard"}


def test_help_answers_at_once() -> None:
    help_s, bare_s = list[float](), list[float]()
    for _ in range(5):  # in turns, so that a slow machine is slow for both
        for seconds, words in (
            (help_s, [str(Path(sys.executable).with_name("dragoman")), "--help"]),
            (bare_s, [sys.executable, "-c", "pass"]),
        ):
            start = time.perf_counter()
            answer = subprocess.run(words, capture_output=True, text=True, check=False)
            seconds.append(time.perf_counter() - start)
            assert answer.returncode == 0, answer.stderr
    ratio = min(help_s) / min(bare_s)
    assert ratio < 25, f"it takes {ratio:.0f} times as long as Python alone; torch would make it a hundred times"


# The rules themselves: each must be able to fail


def at(name: str, source: str) -> Module:
    return Module(name, source)


@pytest.mark.parametrize(
    "name, source, there",
    [
        ("dragoman.corpus.clean", "from dragoman.cli import main", "cli"),
        ("dragoman.corpus.clean", "import dragoman.training.loop as loop", "training"),
        ("dragoman.corpus.clean", "from dragoman import batching", "batching"),
        ("dragoman.corpus.clean", "from ..report.facts import Facts", "report"),
        ("dragoman.corpus.phrasebook.nouns", "from ...report.facts import Facts", "report"),
        ("dragoman.corpus.__init__", "from .. import model", "model"),
        ("dragoman.corpus.clean", "def late():\n    from dragoman.theory import cost", "theory"),
        ("dragoman.corpus.clean", "if TYPE_CHECKING:\n    from dragoman.telemetry import spans", "telemetry"),
        ("dragoman.corpus.clean", "importlib.import_module('dragoman.model')", "model"),
        ("dragoman.core.units", "import dragoman.corpus", "corpus"),
    ],
)
def test_an_import_from_a_higher_row_or_ones_own_is_found(name: str, source: str, there: str) -> None:
    assert faults(forbidden_room_imports, [at(name, source)]) == [
        f"{name}: {name.split('.')[1]} may not import {there}"
    ]


def test_the_package_itself_imports_no_room_but_its_main_imports_the_command_line() -> None:
    source = "from dragoman.cli.main import main"
    assert faults(forbidden_room_imports, [at("dragoman.__init__", source)]) == [
        "dragoman.__init__: the package itself may not import cli"
    ]
    assert faults(forbidden_room_imports, [at("dragoman.__main__", source)]) == []


def test_the_package_itself_offers_the_translator_and_nothing_else_of_its_room() -> None:
    offered = at("dragoman.__init__", "def late():\n    from dragoman.export.engine import Translator")
    assert faults(forbidden_room_imports, [offered]) == []
    assert faults(forbidden_room_imports, [at("dragoman.__init__", "from dragoman.export.convert import convert")])
    assert faults(forbidden_room_imports, [at("dragoman.corpus.clean", offered.source)])


def test_imports_from_lower_rows_and_from_ones_own_room_are_fine() -> None:
    source = (
        "from dragoman import __version__\nfrom . import clean\nfrom .shards import write\nimport dragoman.core.files"
    )
    assert faults(forbidden_room_imports, [at("dragoman.corpus.prepare", source)]) == []
    assert faults(forbidden_room_imports, [at("dragoman.cli.main", "from dragoman.report import facts")]) == []


def test_an_unknown_room_is_told_to_take_a_row() -> None:
    wanted = "the room attic is unknown; give it a row in ROW and in docs/ARCHITECTURE.md"
    attic = at("dragoman.attic.trunk", "from dragoman.core import units")
    visitor = at("dragoman.cli.main", "from dragoman.attic import trunk")
    assert faults(forbidden_room_imports, [attic]) == [f"dragoman.attic.trunk: {wanted}"]
    assert faults(forbidden_room_imports, [visitor]) == [f"dragoman.cli.main: {wanted}"]


def test_a_library_away_from_home_is_found() -> None:
    assert faults(homeless_imports, [at("dragoman.core.units", "import numpy as np")])
    assert faults(
        homeless_imports, [at("dragoman.model.loss", "from sentencepiece import SentencePieceProcessor")]
    ) == ["dragoman.model.loss: sentencepiece belongs to corpus, not to model"]
    assert faults(homeless_imports, [at("dragoman.corpus.vocab", "import pandas")]) == [
        "dragoman.corpus.vocab: pandas has no home; give it one room in HOMES"
    ]
    assert faults(homeless_imports, [at("dragoman.corpus.vocab", "import json, sentencepiece, numpy.typing")]) == []


@pytest.mark.parametrize("room", ["core", "corpus", "theory", "report", "planner", "watch", "serve", "cluster", "cli"])
def test_torch_in_a_room_that_must_run_on_any_laptop_is_found(room: str) -> None:
    assert faults(homeless_imports, [at(f"dragoman.{room}.page", "def late():\n    import torch.nn")])


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "torch.load(path)",
        "dist.all_gather_object(everything, own)",
        "from torch import load",
        "subprocess.run(words, shell=True)",
        "subprocess.run(words, shell=unclear)",
        "numpy.load(path, allow_pickle=True)",
        "os.system('ls')",
        "eval(text)",
        "exec(text)",
        "builtins.eval(text)",
    ],
)
def test_code_from_outside_is_found(source: str) -> None:
    assert len(faults(dangers, [at("dragoman.core.x", source)])) == 1


def test_harmless_look_alikes_pass() -> None:
    source = "model.eval()\nsubprocess.run(words, shell=False)\nsafetensors.torch.load_file(path)\nnumpy.load(path)"
    assert faults(dangers, [at("dragoman.training.x", source)]) == []


@pytest.mark.parametrize(
    "name", ["RunManager", "HelperOfRuns", "PageHandlers", "Utils", "BPEProcessor", "_UnitFactory"]
)
def test_a_class_name_that_says_nothing_is_found(name: str) -> None:
    assert len(faults(empty_names, [at("dragoman.core.x", f"def f():\n    class {name}: pass")])) == 1


def test_a_drawer_is_found_and_honest_names_pass() -> None:
    assert faults(empty_names, [at("dragoman.core.utils", "")])
    assert faults(empty_names, [at("dragoman.misc.x", "")])
    assert faults(empty_names, [at("dragoman.telemetry.gpu", "class Utilisation: pass\nclass Manage: pass")]) == []


def test_a_bare_note_is_found_and_one_with_an_issue_passes() -> None:
    note = "TO" + "DO"
    assert faults(bare_notes, [at("dragoman.core.x", f"\nx = 1  # {note}: later")]) == [
        f"dragoman.core.x:2: x = 1  # {note}: later"
    ]
    assert faults(bare_notes, [at("dragoman.core.x", "# FIX" + "ME")])
    assert faults(bare_notes, [at("dragoman.core.x", f"# {note}(#12): later")]) == []


def test_a_module_without_a_docstring_is_found() -> None:
    assert faults(missing_docstrings, [at("dragoman.core.x", "x = 1")])
    assert faults(missing_docstrings, [at("dragoman.core.x", '""" """')])
    assert faults(missing_docstrings, [at("dragoman.core.__init__", "")])
    assert faults(missing_docstrings, [at("dragoman.core.x", '"""Says it."""')]) == []
    assert faults(missing_docstrings, [at("tests.unit.__init__", "")]) == []


@dataclasses.dataclass(frozen=True)
class _Entry:
    weight: float = 1.0


@dataclasses.dataclass(frozen=True)
class _Section:
    good: int = setting(1, "what it is")
    blank: int = setting(1, " ")
    entries: tuple[_Entry, ...] = setting((), "many")


@dataclasses.dataclass(frozen=True)
class _Recipe:
    section: _Section = dataclasses.field(default_factory=_Section)


def test_settings_are_counted_and_unexplained_ones_are_found() -> None:
    names = [name for name, _ in settings_of(_Recipe)]
    assert names == ["section.good", "section.blank", "section.entries", "section.entries[].weight"]
    assert [fault.split()[0] for fault in unexplained(_Recipe)] == ["section.blank", "section.entries[].weight"]
