"""Dragoman trains a neural translation model on the machines you have, and tells you what happened."""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`from dragoman import Translator`: loaded when it is asked for, so that the command line starts at once."""
    if name == "Translator":
        from dragoman.export.engine import Translator

        return Translator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
