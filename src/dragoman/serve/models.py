"""The models that a server has loaded, found by the languages they translate between."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from dragoman.core.errors import UserError
from dragoman.serve.languages import base_of, name_of
from dragoman.serve.refusal import RefusedError, invalid


class Hypothesis(Protocol):
    """One translation among several, the best first."""

    @property
    def text(self) -> str: ...


class Engine(Protocol):
    """What a server asks of a model; `dragoman.export.engine.Translator` is one."""

    @property
    def source_language(self) -> str: ...
    @property
    def target_language(self) -> str: ...
    @property
    def name(self) -> str: ...
    def translate(self, texts: Sequence[str]) -> list[str]: ...
    def hypotheses(self, texts: Sequence[str], num: int) -> Sequence[Sequence[Hypothesis]]: ...
    def alternatives(self, text: str, prefix: str, num: int) -> list[str]: ...


def open_models(directories: Iterable[Path], threads: int) -> "Models":
    """UserError for a folder that is no model, and for two models of the same languages."""
    from dragoman.export.engine import Translator

    return Models([Translator.open(directory, threads=threads) for directory in directories])


class Models:
    """One model for each pair of languages."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._by_pair: dict[tuple[str, str], Engine] = {}
        for engine in engines:
            pair = engine.source_language.lower(), engine.target_language.lower()
            if other := self._by_pair.get(pair):
                raise UserError(
                    f"{other.name} and {engine.name} both translate from {pair[0]} to {pair[1]}",
                    "serve one of them, or the other on another port",
                )
            self._by_pair[pair] = engine

    @property
    def engines(self) -> list[Engine]:
        return list(self._by_pair.values())

    @property
    def source_languages(self) -> list[str]:
        return sorted({source for source, _ in self._by_pair})

    @property
    def target_languages(self) -> list[str]:
        return sorted({target for _, target in self._by_pair})

    def targets_of(self, source: str) -> list[str]:
        return sorted(target for each, target in self._by_pair if each == source)

    def described(self) -> list[dict[str, object]]:
        """As `/languages` lists them: every language that can be translated from, and into which."""
        return [
            {"code": code, "name": name_of(code), "targets": self.targets_of(code)} for code in self.source_languages
        ]

    def find(self, source: str, target: str) -> Engine:
        """The model for two language codes; a variant such as `de-AT` is served by its language where it has no own."""
        known_source = _known(source, self.source_languages)
        known_target = _known(target, self.target_languages)
        if known_source is None:
            raise invalid(f"{source[:20]!r} is no language that can be translated from here; see /languages")
        if known_target is None:
            raise invalid(f"{target[:20]!r} is no language that can be translated into here; see /languages")
        engine = self._by_pair.get((known_source, known_target))
        if engine is None:
            raise RefusedError(
                400,
                f"No model for {name_of(known_source)} to {name_of(known_target)} is loaded;"
                f" from {name_of(known_source)} there is {_listed(self.targets_of(known_source))}.",
            )
        return engine


def _known(code: str, known: Sequence[str]) -> str | None:
    """The code itself, or its language without region and script."""
    wanted = code.strip().lower().replace("_", "-")
    return wanted if wanted in known else base_of(wanted) if base_of(wanted) in known else None


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(name_of(code) for code in codes)
