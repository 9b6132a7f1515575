"""What the pages promise: every command they show runs, and every verb explains itself."""

import dataclasses
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if page.exists()]
COMMAND_S = 240
PROMPTS = {"sh": r"(?:\$ )?", "console": r"\$ "}  # without a prompt, a line of a console block is output


@dataclasses.dataclass(frozen=True)
class Shown:
    """A command as a page shows it."""

    line: int
    text: str

    @property
    def program(self) -> str:
        return self.text.split()[0]


def commands_of(page: str) -> Iterator[Shown]:
    """The dragoman and make commands of a page's sh and console blocks, but for blocks marked as not run."""
    fence, above, prompt, lines = "", "", None, iter(enumerate(page.splitlines(), start=1))
    for number, line in lines:
        if fence:
            if line.strip() == fence:
                fence, above = "", ""
            elif prompt and (match := re.match(rf"\s*{prompt}((?:dragoman|make)(?:\s.*)?)$", line)):
                text = match[1]
                while text.endswith("\\"):
                    text = text[:-1] + next(lines, (0, ""))[1].removeprefix("> ").strip()
                yield Shown(number, text)
        elif opening := re.match(r"\s*(```+|~~~+)\s*(\w*)", line):
            fence = opening[1]
            is_marked = re.match(r"\s*<!-- not run: .*\S.* -->\s*$", above)
            prompt = None if is_marked else PROMPTS.get(opening[2])
        elif line.strip():
            above = line


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


def unknown_targets(command: str) -> list[str]:
    """The words of a make command that are no target; settings, options and what follows a # are passed over."""
    words = command.partition("#")[0].split()[1:]
    return [word for word in words if "=" not in word and not word.startswith("-") and word not in make_targets()]


def environment(directory: Path) -> dict[str, str]:
    """As a user has it, except that caches and the home directory are thrown away afterwards."""
    home = directory / ".home"
    home.mkdir(exist_ok=True)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("DRAGOMAN_", "XDG_"))},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "DRAGOMAN_CACHE": str(home / "cache"),
        "COLUMNS": "100",
    }


def run(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=directory,
        env=environment(directory),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=COMMAND_S,
        check=False,
    )


# The pages


def test_the_readme_shows_how_to_begin() -> None:
    page = ROOT / "README.md"
    assert page.exists(), "there is no README.md"
    shown = [command.text.partition("#")[0].strip() for command in commands_of(page.read_text())]
    assert "make test" in shown, "the README does not say how the tests are run"
    assert any(text.split()[0] == "dragoman" or text == "make demo" for text in shown)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    if (ROOT / "recipes").is_dir():
        shutil.copytree(ROOT / "recipes", tmp_path / "recipes")
    for command in commands_of(page.read_text()):
        where = f"{page.relative_to(ROOT)}:{command.line}: {command.text}"
        if command.program == "make":
            assert unknown_targets(command.text) == [], f"{where}: the Makefile has no such target"
            continue
        result = run(command.text, tmp_path)
        assert result.returncode == 0, f"{where}\nended with code {result.returncode}\n{result.stdout}{result.stderr}"


# The verbs


def help_of(*words: str) -> str:
    command = Path(sys.executable).with_name("dragoman")
    answer = subprocess.run([str(command), *words, "--help"], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def verbs_in(help_text: str) -> list[str]:
    """The verbs that the top-level help lists, each indented and followed by what it does."""
    return re.findall(r"^ {2,6}([a-z][a-z-]*) {2,}\S", help_text, flags=re.MULTILINE)


def shows_an_example(verb: str, help_text: str) -> bool:
    """A line of its own that could be typed; the line of usage is not one."""
    return re.search(rf"^\s*(?:\$ )?dragoman {re.escape(verb)}\b", help_text, flags=re.MULTILINE) is not None


def test_help_lists_the_verbs() -> None:
    assert verbs_in(help_of())


def test_every_verb_explains_itself_with_an_example() -> None:
    silent = [verb for verb in verbs_in(help_of()) if not shows_an_example(verb, help_of(verb))]
    assert silent == [], "these verbs show no example in their --help"


# The reading of pages itself


PAGE = """# Title

Run `dragoman unseen` or:

```sh
make demo        # the quick way
cd somewhere
dragoman prepare recipes/a.toml \\
    --set corpus.seed=2
dragoman-like is no verb of ours
make.py neither
```

```console
$ dragoman report runs/a | head -1
dragoman says hello, which is output all the same
```

<!-- not run: needs two machines -->
```sh
dragoman train --hosts hosts.toml
```

<!-- not run: -->
~~~sh
$ dragoman check
~~~

```python
dragoman = 1
```
```
dragoman plain
```
"""


def test_the_commands_of_a_page_are_found_with_their_lines() -> None:
    assert [(command.line, command.text) for command in commands_of(PAGE)] == [
        (6, "make demo        # the quick way"),
        (8, "dragoman prepare recipes/a.toml --set corpus.seed=2"),
        (15, "dragoman report runs/a | head -1"),
        (26, "dragoman check"),
    ]


def test_a_mark_without_a_reason_or_with_words_between_does_not_count() -> None:
    block = "```sh\ndragoman check\n```\n"
    assert list(commands_of(f"<!-- not run: slow -->\n\n{block}")) == []
    assert len(list(commands_of(f"<!-- not run: -->\n{block}"))) == 1
    assert len(list(commands_of(f"<!-- not run: slow -->\nBut this:\n{block}"))) == 1
    assert len(list(commands_of(f"<!-- not run: slow -->\n{block}{block}"))) == 1


def test_a_make_target_that_is_not_there_is_found() -> None:
    assert {"help", "demo", "test", "lint", "check", "slow", "bench"} <= make_targets()
    assert unknown_targets("make") == unknown_targets("make -j2 test PYTHON=python3.12  # all of it") == []
    assert unknown_targets("make teh tea") == ["teh", "tea"]


def test_a_failing_command_is_seen_even_in_front_of_a_pipe(tmp_path: Path) -> None:
    assert run("false | cat", tmp_path).returncode != 0
    assert run('test "$HOME" = "$PWD/.home" && test -z "$(cat)"', tmp_path).returncode == 0


def test_verbs_and_examples_are_found_in_help() -> None:
    text = "usage: dragoman VERB\n\nverbs:\n  prepare    make a corpus\n  plan       say what\n\n  --version  x\n"
    assert verbs_in(text) == ["prepare", "plan"]
    assert shows_an_example("plan", "usage: dragoman plan\n\nexample:\n  dragoman plan a.toml\n")
    assert not shows_an_example("plan", "usage: dragoman plan RECIPE\n\n  dragoman planner x\n")
