"""Texts in, texts out: splits them into sentences for the queue, and remembers the latest ones.

Someone who types sends the same text again with every pause, longer by a few letters; only the sentence that changed is
translated again. What is remembered is bounded, never leaves the memory of the process, and is gone when it ends.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

from dragoman.documents.sentences import Unit, units_of
from dragoman.export.engine import SPACELESS
from dragoman.serve.limits import Limits
from dragoman.serve.models import Engine
from dragoman.serve.refusal import too_large
from dragoman.serve.sentence_queue import SentenceQueue

REMEMBERED = 4_096
"""Sentences."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
Ranked = tuple[str, ...]
"""Translations of one sentence, the best first."""


def writable(text: str) -> str:
    """Text that can be sent as UTF-8: halves of characters, as JSON allows them, are shown as broken."""
    return _LONE_SURROGATE.sub("\ufffd", text)


class Translations:
    """What the interface asks for, in terms of the sentences that the models translate."""

    def __init__(self, queue: SentenceQueue, limits: Limits, remembered: int = REMEMBERED) -> None:
        self._queue = queue
        self._limits = limits
        self._most = remembered
        self._remembered: OrderedDict[Hashable, Ranked] = OrderedDict()

    async def ranked(
        self, engine: Engine, texts: Sequence[str], num: int, most_sentences: int | None = None
    ) -> list[list[str]]:
        """Up to `num` different translations of each text, best first; of several sentences, the n-th best of each."""
        units = [units_of(text) for text in texts]
        found = await self._sentences(engine, [unit.text for each in units for unit in each], num, most_sentences)
        answers = iter(found)
        return [_joined(each, [next(answers) for _ in each], num, engine.target_language) for each in units]

    async def pairs(self, engine: Engine, text: str) -> list[tuple[str, str]]:
        """Each sentence and its translation with the white space around them; put together they are both texts."""
        units = units_of(text)
        found = await self._sentences(engine, [unit.text for unit in units], 1, None)
        written = [_written(units, place, found[place][0], engine.target_language) for place in range(len(units))]
        return [(unit.before + unit.text + unit.after, target) for unit, target in zip(units, written, strict=True)]

    async def ways_on(self, engine: Engine, sentence: str, prefix: str, num: int) -> list[str]:
        """Other translations of a sentence that begin alike."""

        def run(texts: list[str]) -> list[list[str]]:
            return [engine.alternatives(text, prefix, num) for text in texts]

        [ways] = await self._queue.translate(object(), run, [sentence])
        return [writable(way) for way in ways]

    async def _sentences(
        self, engine: Engine, sentences: Sequence[str], num: int, most_sentences: int | None
    ) -> list[Ranked]:
        """Every sentence in its place; what is empty stays empty."""
        most = most_sentences or self._limits.sentences
        if (num_sentences := sum(map(bool, sentences))) > most:
            raise too_large(f"The request has {num_sentences:,} sentences; {most:,} are the most.")
        kind = (engine.source_language, engine.target_language, num)
        known = {text: found for text in sentences if (found := self._recalled((*kind, text)))}
        known[""] = ("",)
        new = [text for text in dict.fromkeys(sentences) if text not in known]
        for text, ranked in zip(new, await self._queue.translate(kind, _runner(engine, num), new), strict=True):
            known[text] = ranked
            self._remember((*kind, text), ranked)
        return [known[text] for text in sentences]

    def _recalled(self, key: Hashable) -> Ranked | None:
        if key in self._remembered:
            self._remembered.move_to_end(key)
        return self._remembered.get(key)

    def _remember(self, key: Hashable, ranked: Ranked) -> None:
        self._remembered[key] = ranked
        while len(self._remembered) > self._most:
            self._remembered.popitem(last=False)


def _runner(engine: Engine, num: int) -> Callable[[list[str]], list[Ranked]]:
    """How a batch of sentences is given to the model."""
    if num == 1:
        return lambda texts: [(writable(text),) for text in engine.translate(texts)]
    return lambda texts: [tuple(writable(each.text) for each in ranked) for ranked in engine.hypotheses(texts, num)]


def _joined(units: Sequence[Unit], found: Sequence[Ranked], num: int, language: str) -> list[str]:
    """Whole texts, best first, without doubles."""
    texts = (
        "".join(_written(units, place, each[min(rank, len(each) - 1)], language) for place, each in enumerate(found))
        for rank in range(num)
    )
    return list(dict.fromkeys(texts))


def _written(units: Sequence[Unit], place: int, translation: str, language: str) -> str:
    """A translated sentence between the white space that its language wants there; line breaks stay."""
    unit = units[place]
    after = unit.after
    if unit.text and place + 1 < len(units) and "\n" not in after and "\r" not in after:
        after = "" if language in SPACELESS else after or " "
    return unit.before + translation.strip() + after
