"""`dragoman completion`: what a shell needs to complete verbs, options and files."""

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")
EXAMPLES = """\
examples:
  dragoman completion bash > ~/.local/share/bash-completion/completions/dragoman
  dragoman completion zsh > ~/.zfunc/_dragoman      # with fpath+=~/.zfunc before compinit"""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "completion",
        help="a script that lets your shell complete dragoman's words",
        description="Print a completion script for a shell.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell to write for")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    import shtab

    from dragoman.cli.main import build_parser

    parser = build_parser()
    for action in _all_actions(parser):
        if action.metavar in ("FILE", "RECIPE", "HOSTS.TOML"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in ("DIR", "RUN", "MODEL", "MODEL_OR_RUN"):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(parser, options.shell))


def _all_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Of the parser and of all its verbs."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                found += _all_actions(verb)
        found.append(action)
    return found
