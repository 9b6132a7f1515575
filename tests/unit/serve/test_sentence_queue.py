"""Sentences of many requests in common batches: fair, bounded, and unharmed by one that breaks."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import pytest

from dragoman.serve import sentence_queue
from dragoman.serve.refusal import RefusedError
from dragoman.serve.sentence_queue import ModelFailedError, SentenceQueue


class Model:
    """Notes its batches; takes so many seconds for a sentence."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.batches: list[list[str]] = []
        self.seconds = seconds

    def __call__(self, texts: list[str]) -> list[str]:
        self.batches.append(texts)
        time.sleep(self.seconds * len(texts))
        if "break" in texts:
            raise RuntimeError("cannot")
        return [text.upper() for text in texts]


def in_queue(story: Callable[[SentenceQueue], Awaitable[None]], most_sentences: int = 1_000, threads: int = 1) -> None:
    async def run() -> None:
        queue = SentenceQueue(most_sentences, threads=threads)
        queue.start()
        try:
            await asyncio.wait_for(story(queue), timeout=20)
        finally:
            queue.close()

    asyncio.run(run())


def test_answers_come_in_the_order_of_the_sentences() -> None:
    async def story(queue: SentenceQueue) -> None:
        texts = [f"sentence {number}" for number in range(500)]
        assert await queue.translate("en-de", Model(), texts) == [text.upper() for text in texts]
        assert await queue.translate("en-de", Model(), []) == []

    in_queue(story, threads=2)


def test_sentences_of_different_requests_are_translated_together() -> None:
    model = Model()

    async def story(queue: SentenceQueue) -> None:
        answers = await asyncio.gather(*(queue.translate("en-de", model, [name]) for name in "abcdef"))
        assert answers == [[name.upper()] for name in "abcdef"]

    in_queue(story)
    assert len(model.batches) == 1


def test_models_do_not_share_batches() -> None:
    first, second = Model(), Model()

    async def story(queue: SentenceQueue) -> None:
        await asyncio.gather(
            queue.translate("en-de", first, ["a"]),
            queue.translate("de-en", second, ["b"]),
            queue.translate("en-de", first, ["c"]),
        )

    in_queue(story)
    assert (first.batches, second.batches) == ([["a", "c"]], [["b"]])


def test_a_book_does_not_hold_up_a_word() -> None:
    model = Model(seconds=0.001)
    book = [f"A sentence of ordinary length that stands at place {number} of a book." for number in range(600)]

    async def story(queue: SentenceQueue) -> None:
        reading = asyncio.ensure_future(queue.translate("en-de", model, book))
        await asyncio.sleep(0.01)
        assert await queue.translate("en-de", model, ["word"]) == ["WORD"]
        assert not reading.done()
        assert len(await reading) == len(book)

    in_queue(story)


def test_a_model_of_another_pair_gets_its_turn_beside_a_book() -> None:
    model = Model(seconds=0.001)

    async def story(queue: SentenceQueue) -> None:
        reading = asyncio.ensure_future(queue.translate("en-de", model, ["a sentence of a book"] * 1_000))
        await asyncio.sleep(0.01)
        assert await queue.translate("de-en", Model(), ["wort"]) == ["WORT"]
        assert not reading.done()
        reading.cancel()

    in_queue(story)


def test_what_nobody_waits_for_is_not_translated() -> None:
    model = Model(seconds=0.001)

    async def story(queue: SentenceQueue) -> None:
        reading = asyncio.ensure_future(queue.translate("en-de", model, ["a sentence of a book"] * 1_000))
        await asyncio.sleep(0.03)
        reading.cancel()
        await asyncio.sleep(0)
        assert queue.num_waiting == 0

    in_queue(story, most_sentences=2_000)
    assert sum(map(len, model.batches)) < 500


def test_a_full_queue_says_when_to_come_back() -> None:
    model = Model(seconds=0.02)

    async def story(queue: SentenceQueue) -> None:
        waiting = [asyncio.ensure_future(queue.translate("en-de", model, ["x" * 400] * 9)) for _ in range(2)]
        await asyncio.sleep(0.01)
        with pytest.raises(RefusedError) as refused:
            await queue.translate("en-de", model, ["more"] * 9)
        assert refused.value.status == 429
        assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
        assert await asyncio.gather(*waiting)

    in_queue(story, most_sentences=20)


def test_a_request_larger_than_the_queue_is_taken_when_nothing_waits() -> None:
    async def story(queue: SentenceQueue) -> None:
        assert len(await queue.translate("en-de", Model(), ["text"] * 50)) == 50

    in_queue(story, most_sentences=20)


def test_a_sentence_that_breaks_the_model_spoils_only_its_own_request() -> None:
    model = Model()

    async def story(queue: SentenceQueue) -> None:
        answers = await asyncio.gather(
            queue.translate("en-de", model, ["fine"]),
            queue.translate("en-de", model, ["also", "break"]),
            queue.translate("en-de", model, ["good"]),
            return_exceptions=True,
        )
        assert (answers[0], answers[2]) == (["FINE"], ["GOOD"])
        assert isinstance(answers[1], ModelFailedError)
        assert await queue.translate("en-de", model, ["alive"]) == ["ALIVE"]

    in_queue(story)


def test_a_model_that_loses_a_sentence_has_failed() -> None:
    def forgetful(texts: list[str]) -> Sequence[str]:
        return texts[1:]

    async def story(queue: SentenceQueue) -> None:
        with pytest.raises(ModelFailedError):
            await queue.translate("en-de", forgetful, ["a", "b"])

    in_queue(story)


def test_a_batch_takes_about_a_quarter_of_a_second_once_the_pace_is_known() -> None:
    slow, quick = Model(seconds=0.01), Model(seconds=0.0001)

    async def story(queue: SentenceQueue) -> None:
        await queue.translate("en-de", slow, ["a sentence of twenty"] * 60)

    async def quick_story(queue: SentenceQueue) -> None:
        await queue.translate("en-de", quick, ["a sentence of twenty"] * 5_000)

    in_queue(story)
    in_queue(quick_story, most_sentences=10_000)
    assert max(map(len, slow.batches)) <= 30
    assert 1_000 <= max(map(len, quick.batches)) <= sentence_queue.MOST_CHARACTERS / 20


def test_closing_ends_the_threads() -> None:
    async def run() -> None:
        queue = SentenceQueue(10, threads=2)
        queue.start()
        assert queue.is_alive
        queue.close()
        assert not queue.is_alive

    asyncio.run(run())
