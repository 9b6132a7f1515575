"""Beam search against brute force and against a naive one that is plain to read."""

# R rows
# ruff: noqa: N803

import dataclasses
import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence

import pytest
import torch
from torch import Tensor

from dragoman.decoding.beam import Hypothesis, Rules, search

BOS, EOS = 0, 1

Scores = Callable[[tuple[int, ...]], list[float]]
"""Tokens so far → the log-probability of every next one."""


def allowed(tokens: tuple[int, ...], token: int, shortest: int, longest: int, rules: Rules) -> bool:
    """Whether a token may follow."""
    if token == rules.eos:
        return len(tokens) >= shortest and token not in rules.never
    longer = (*tokens, token)
    run = rules.no_repeat
    runs = [longer[start : start + run] for start in range(len(longer) - run + 1)] if run else []
    return len(tokens) < longest and token not in rules.never and len(runs) == len(set(runs))


def beam_search(scores: Scores, shortest: int, longest: int, rules: Rules) -> list[Hypothesis]:
    """What `search` must find; it goes on until none is live, so it also shows that stopping early is safe."""
    live: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    finished: list[Hypothesis] = []
    while live:
        candidates = [
            (total + log_probability, tokens, token)
            for total, tokens in live
            for token, log_probability in enumerate(scores(tokens))
            if allowed(tokens, token, shortest, longest, rules) and log_probability > -math.inf
        ]
        candidates.sort(key=lambda candidate: -candidate[0])
        live = []
        for total, tokens, token in candidates[: rules.beam - len(finished)]:
            if token == rules.eos:
                finished.append(Hypothesis(tokens, total, total / (len(tokens) + 1) ** rules.length_penalty))
            else:
                live.append((total, (*tokens, token)))
    return sorted(finished, key=lambda hypothesis: -hypothesis.score)[: rules.n_best]


def every_hypothesis(
    scores: Scores, shortest: int, longest: int, rules: Rules, num_tokens: int
) -> Iterator[Hypothesis]:
    """All that can be said, with its score by definition."""
    for length in range(shortest, longest + 1):
        for tokens in itertools.product([token for token in range(num_tokens) if token != rules.eos], repeat=length):
            steps = [(tokens[:place], token) for place, token in enumerate((*tokens, rules.eos))]
            if all(allowed(before, token, shortest, longest, rules) for before, token in steps):
                total = sum(scores(before)[token] for before, token in steps)
                if total > -math.inf:
                    yield Hypothesis(tokens, total, total / (length + 1) ** rules.length_penalty)


def table(
    seed: int, num_tokens: int, *, impossible: float = 0.0, end: float = 0.0, steps: int = 0
) -> Callable[[int], Scores]:
    """Random log-probabilities of each sentence after each history; `steps` rounds them, so that there are ties."""

    @functools.cache
    def scores(sentence: int, tokens: tuple[int, ...]) -> list[float]:
        generator = random.Random(f"{seed} {sentence} {tokens}")
        weights = [generator.gauss(0.0, 2.0) for _ in range(num_tokens)]
        weights[EOS] += end
        total = math.log(sum(map(math.exp, weights)))
        values = [weight - total for weight in weights]
        if steps:
            values = [math.floor(value * steps) / steps for value in values]
        return [-math.inf if generator.random() < impossible else value for value in values]

    return lambda sentence: functools.partial(scores, sentence)


@dataclasses.dataclass(frozen=True)
class Histories:
    """A state that remembers what each row has been fed, and which sentence it belongs to."""

    sentences: tuple[int, ...]
    fed: tuple[tuple[int, ...], ...]
    sizes: list[int]

    @staticmethod
    def of(sentences: Sequence[int]) -> "Histories":
        return Histories(tuple(sentences), ((),) * len(sentences), [])

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> "Histories":
        kept = self.sentences if sentences is None else tuple(self.sentences[number] for number in sentences.tolist())
        places = len(self.fed) // len(self.sentences)
        for number, row in enumerate(rows.tolist()):
            assert self.sentences[row // places] == kept[number // (len(rows) // len(kept))]
        return Histories(kept, tuple(self.fed[row] for row in rows.tolist()), self.sizes)


def stepper(scores: Callable[[int], Scores]) -> Callable[[Tensor, Histories], tuple[Tensor, Histories]]:
    def step(tokens_R: Tensor, state: Histories) -> tuple[Tensor, Histories]:
        fed = tuple((*before, token) for before, token in zip(state.fed, tokens_R.tolist(), strict=True))
        assert all(row[0] == BOS for row in fed)
        places = len(fed) // len(state.sentences)
        rows = [scores(state.sentences[number // places])(row[1:]) for number, row in enumerate(fed)]
        state.sizes.append(len(fed))
        return torch.tensor(rows, dtype=torch.float64), dataclasses.replace(state, fed=fed)

    return step


def found(
    scores: Callable[[int], Scores], shortest: Sequence[int], longest: Sequence[int], rules: Rules
) -> list[list[Hypothesis]]:
    return search(stepper(scores), Histories.of(range(len(longest))), shortest, longest, rules)


def assert_same(ours: Sequence[Hypothesis], theirs: Sequence[Hypothesis]) -> None:
    assert [hypothesis.tokens for hypothesis in ours] == [hypothesis.tokens for hypothesis in theirs]
    for our, their in zip(ours, theirs, strict=True):
        assert our.score == pytest.approx(their.score, abs=1e-12)
        assert our.log_probability == pytest.approx(their.log_probability, abs=1e-12)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0, 2.5])
@pytest.mark.parametrize("seed", range(6))
def test_a_beam_as_wide_as_the_world_finds_what_brute_force_finds(length_penalty: float, seed: int) -> None:
    num_tokens, longest, shortest = 5, [4, 3, 0], [0, seed % 3, 0]
    rules = Rules(BOS, EOS, beam=400, n_best=1 + 7 * (seed % 2), length_penalty=length_penalty, never=(BOS,))
    scores = table(seed, num_tokens, impossible=0.2 * (seed % 3), end=[0.0, -4.0, 3.0][seed // 2])
    for sentence, hypotheses in enumerate(found(scores, shortest, longest, rules)):
        world = every_hypothesis(scores(sentence), shortest[sentence], longest[sentence], rules, num_tokens)
        assert_same(hypotheses, sorted(world, key=lambda hypothesis: -hypothesis.score)[: rules.n_best])


@pytest.mark.parametrize("beam", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", range(50))
def test_a_narrow_beam_finds_what_a_naive_search_finds(beam: int, seed: int) -> None:
    generator = random.Random(1000 * beam + seed)
    num_tokens = generator.choice([3, 6, 20])
    longest = [generator.randint(0, 9) for _ in range(generator.randint(1, 6))]
    shortest = [generator.randint(0, most) if generator.random() < 0.3 else 0 for most in longest]
    rules = Rules(
        BOS,
        EOS,
        beam=beam,
        n_best=generator.randint(1, beam),
        length_penalty=generator.choice([0.0, 0.5, 1.0, 1.7]),
        no_repeat=generator.choice([0, 0, 1, 2, 3]),
        never=generator.choice([(), (BOS,)]),
    )
    scores = table(
        seed, num_tokens, impossible=generator.choice([0.0, 0.0, 0.3]), end=generator.choice([-3.0, 0.0, 2.0])
    )
    for sentence, hypotheses in enumerate(found(scores, shortest, longest, rules)):
        assert_same(hypotheses, beam_search(scores(sentence), shortest[sentence], longest[sentence], rules))


@pytest.mark.parametrize("seed", range(20))
def test_equal_scores_go_to_the_better_parent_and_then_to_the_lower_token(seed: int) -> None:
    scores = table(seed, 12, steps=1, end=-2.0)
    rules = Rules(BOS, EOS, beam=4, n_best=4)
    assert_same(found(scores, [0], [6], rules)[0], beam_search(scores(0), 0, 6, rules))


def test_where_everything_is_equal_the_lowest_tokens_come_first() -> None:
    hypotheses = found(lambda sentence: lambda tokens: [-2.0] * 8, [2], [2], Rules(BOS, EOS, beam=3, n_best=3))[0]
    assert [hypothesis.tokens for hypothesis in hypotheses] == [(0, 0), (0, 2), (0, 3)]


def greedy(scores: Scores, longest: int) -> tuple[int, ...]:
    tokens: tuple[int, ...] = ()
    while len(tokens) < longest:
        values = scores(tokens)
        token = values.index(max(values))
        if token == EOS:
            break
        tokens = (*tokens, token)
    return tokens


@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
@pytest.mark.parametrize("steps", [0, 1])
def test_a_beam_of_one_is_greedy_search(length_penalty: float, steps: int) -> None:
    scores, longest = table(3, 15, end=1.0, steps=steps), [12] * 40
    hypotheses = found(scores, [0] * 40, longest, Rules(BOS, EOS, beam=1, length_penalty=length_penalty))
    assert [each[0].tokens for each in hypotheses] == [greedy(scores(sentence), 12) for sentence in range(40)]
    assert len({len(each[0].tokens) for each in hypotheses}) > 4


def test_a_sentence_is_translated_the_same_alone_and_among_others() -> None:
    scores, rules = table(5, 9, end=0.5), Rules(BOS, EOS, beam=4, n_best=3)
    longest = [8, 2, 5, 0, 8, 8, 3]
    together = found(scores, [0] * 7, longest, rules)
    alone = [
        search(stepper(scores), Histories.of([sentence]), [0], [most], rules)[0]
        for sentence, most in enumerate(longest)
    ]
    assert together == alone  # to the last bit, if the step's scores do not depend on the batch


def test_finished_sentences_leave_the_batch_and_ended_hypotheses_their_rows() -> None:
    def scores(sentence: int) -> Scores:
        return lambda tokens: [-9.0, -0.01 if len(tokens) >= sentence else -8.0, -1.0, -3.0, -4.0]

    state = Histories.of(range(4))
    search(stepper(scores), state, [0] * 4, [6] * 4, Rules(BOS, EOS, beam=2, length_penalty=0.0))
    assert state.sizes[:4] == [4, 6, 4, 2]  # one row a sentence first; sentence n ends after n tokens
    assert len(state.sizes) == 4


@pytest.mark.parametrize(("length_penalty", "steps", "length"), [(0.0, 2, 0), (2.0, 10, 9)])
def test_a_search_goes_on_while_a_longer_hypothesis_could_still_win(
    length_penalty: float, steps: int, length: int
) -> None:
    def scores(tokens: tuple[int, ...]) -> list[float]:
        return [-50.0, -1.1, -1.0] if len(tokens) < 9 else [-50.0, 0.0, -50.0]

    state = Histories.of([0])
    rules = Rules(BOS, EOS, beam=2, length_penalty=length_penalty)
    hypotheses = search(stepper(lambda sentence: scores), state, [0], [9], rules)[0]
    assert len(hypotheses[0].tokens) == length
    assert len(state.sizes) == steps


@pytest.mark.parametrize("beam", [1, 4])
def test_lengths_stay_within_their_limits(beam: int) -> None:
    shortest, longest = [0, 3, 5, 7], [0, 3, 9, 8]
    for end in (-20.0, 20.0):
        rules = Rules(BOS, EOS, beam=beam, n_best=beam)
        for sentence, hypotheses in enumerate(found(table(1, 10, end=end), shortest, longest, rules)):
            lengths = {len(hypothesis.tokens) for hypothesis in hypotheses}
            assert min(lengths) >= shortest[sentence] and max(lengths) <= longest[sentence]


@pytest.mark.parametrize("run", [1, 2, 3])
def test_no_run_of_tokens_comes_twice_where_that_is_forbidden(run: int) -> None:
    def stuttering(tokens: tuple[int, ...]) -> list[float]:
        return [-0.5 if tokens[-2:-1] == (token,) else -3.0 - token / 10 for token in range(12)]

    def repeats(rules: Rules) -> bool:
        tokens = found(lambda sentence: stuttering, [10], [10], rules)[0][0].tokens
        return any(tokens[i : i + run] == tokens[j : j + run] for i in range(11 - run) for j in range(i))

    rules = Rules(BOS, EOS, beam=3, never=(BOS,))
    assert repeats(rules)
    assert not repeats(dataclasses.replace(rules, no_repeat=run))


@pytest.mark.parametrize("value", [-math.inf, math.nan])
def test_a_model_that_gives_no_scores_gives_no_hypotheses(value: float) -> None:
    assert found(lambda sentence: lambda tokens: [value] * 4, [0, 0], [5, 5], Rules(BOS, EOS, beam=3)) == [[], []]


def test_no_sentences_give_no_hypotheses() -> None:
    assert found(table(1, 5), [], [], Rules(BOS, EOS)) == []


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(ValueError, match="a beam of 2 has no 3 best hypotheses"):
        Rules(BOS, EOS, beam=2, n_best=3)
    with pytest.raises(ValueError, match="below 0"):
        Rules(BOS, EOS, length_penalty=-0.5)
    with pytest.raises(ValueError, match="above its longest"):
        found(table(1, 5), [4], [3], Rules(BOS, EOS))
