"""Beam search over any function that scores the next token.

Takes a state and a step (last tokens, state → log-probabilities of the next, new state) for a batch of sentences; gives
each sentence's best hypotheses. A beam holds `beam` hypotheses, finished or not: one that ends keeps its place, so a
beam of 1 is greedy search. A hypothesis of n tokens and the end has score = sum of its n + 1 log-probabilities /
(n + 1) ** length_penalty. A sentence leaves the batch as soon as none of its live hypotheses can still come among its
`n_best`: as log-probabilities are never above 0, none can pass its sum / (longest length) ** length_penalty. Knows no
model, no vocabulary, no text.
"""

# B sentences in the batch  K places of a beam that are computed  R = B x K rows  V vocabulary  C candidates
# E hypotheses that end in a step  T tokens so far  N best finished
# ruff: noqa: N803, N806, N815

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor

from dragoman.decoding.best import best_of_rows


class Selectable(Protocol):
    """What a step remembers of each row."""

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> Self:
        """The rows, in that order, all K of a sentence together; `sentences` if only some of them stay."""


State = TypeVar("State", bound=Selectable)
Step = Callable[[Tensor, State], tuple[Tensor, State]]
"""(R) tokens, state → (R, V) log-probabilities, which the search may overwrite, and the state after the tokens."""


@dataclass(frozen=True)
class Rules:
    """What is searched for."""

    bos: int
    eos: int
    beam: int = 5
    n_best: int = 1
    length_penalty: float = 1.0
    no_repeat: int = 0
    """No run of so many tokens twice in a hypothesis; 0 allows it."""
    never: tuple[int, ...] = ()
    """Tokens that no hypothesis holds, such as padding."""

    def __post_init__(self) -> None:
        if not 1 <= self.n_best <= self.beam:
            raise ValueError(f"a beam of {self.beam} has no {self.n_best} best hypotheses")
        if self.length_penalty < 0:
            raise ValueError("a length penalty below 0 would let scores grow without bound")


@dataclass(frozen=True)
class Hypothesis:
    """A translation in tokens, without the end of the sentence, which its log-probability counts."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float


@dataclass(frozen=True)
class _Endings:
    """The hypotheses that ended in one step, all of one length."""

    sentence_E: Tensor
    sum_E: Tensor
    tokens_ET: Tensor


@dataclass(frozen=True)
class _Batch(Generic[State]):
    """The sentences that are still searched. The hypotheses of each are in falling order; a sum of -inf holds none."""

    state: State
    sentence_B: Tensor
    shortest_B: Tensor
    longest_B: Tensor
    free_B: Tensor
    """Places not taken by finished hypotheses."""
    best_BN: Tensor
    """Scores of the best finished hypotheses, falling; -inf where there are fewer."""
    sums_BK: Tensor
    tokens_BKT: Tensor


@torch.no_grad()
def search(
    step: Step[State],
    state: State,
    shortest: Sequence[int],
    longest: Sequence[int],
    rules: Rules,
    device: torch.device | None = None,
) -> list[list[Hypothesis]]:
    """The best hypotheses of each sentence, best first, with between shortest and longest tokens before the end.

    The state has one row a sentence; the search asks it for more. A list is shorter than `n_best`, or empty, only where
    all else is impossible (-inf or not a number).
    """
    if any(least > most or most < 0 for least, most in zip(shortest, longest, strict=True)):
        raise ValueError("the shortest length of a sentence is above its longest")
    num_sentences = len(longest)
    batch = _Batch(
        state=state,
        sentence_B=torch.arange(num_sentences, device=device),
        shortest_B=torch.tensor(shortest, device=device),
        longest_B=torch.tensor(longest, device=device),
        free_B=torch.full((num_sentences,), rules.beam, device=device),
        best_BN=torch.full((num_sentences, rules.n_best), -torch.inf, device=device, dtype=torch.float64),
        sums_BK=torch.zeros(num_sentences, 1, device=device, dtype=torch.float64),
        tokens_BKT=torch.empty(num_sentences, 1, 0, device=device, dtype=torch.int64),
    )
    endings: list[_Endings] = []
    while len(batch.sentence_B):
        batch = _extended(step, batch, rules, endings)
    return _collected(endings, num_sentences, rules)


def _extended(step: Step[State], batch: _Batch[State], rules: Rules, endings: list[_Endings]) -> _Batch[State]:
    """The batch one token later; what ended is added to `endings`."""
    num_sentences, places, length = batch.tokens_BKT.shape
    if length:
        last_R = batch.tokens_BKT[:, :, -1].reshape(-1)
    else:
        last_R = torch.full((num_sentences,), rules.bos, device=batch.sentence_B.device)
    scores_RV, state = step(last_R, batch.state)
    _forbid(scores_RV, batch, rules)
    sums_BC, parent_BC, token_BC = _candidates(scores_RV, batch, rules.beam)

    ends_BC = (token_BC == rules.eos) & (sums_BC > -torch.inf)
    best_BN, free_B = batch.best_BN, batch.free_B
    if ends_BC.any():
        sentence_E, candidate_E = ends_BC.nonzero(as_tuple=True)
        tokens_ET = batch.tokens_BKT[sentence_E, parent_BC[sentence_E, candidate_E]]
        endings.append(_Endings(batch.sentence_B[sentence_E], sums_BC[ends_BC], tokens_ET))
        scores_BC = torch.where(ends_BC, sums_BC / (length + 1) ** rules.length_penalty, -torch.inf)
        best_BN = torch.cat((best_BN, scores_BC), dim=1).topk(rules.n_best, dim=1).values
        free_B = free_B - ends_BC.sum(dim=1)
        sums_BC = sums_BC.masked_fill(ends_BC, -torch.inf)
        sums_BC, order_BC = sums_BC.sort(dim=1, descending=True, stable=True)
        parent_BC, token_BC = parent_BC.gather(1, order_BC), token_BC.gather(1, order_BC)

    # Divided by a power of the greatest length, a sum below 0 gives the greatest score that it can still have.
    bound_B = sums_BC[:, 0] / (batch.longest_B + 1).double() ** rules.length_penalty
    stays_B = best_BN[:, -1] < bound_B
    num_live = int((sums_BC > -torch.inf).sum(dim=1)[stays_B].amax()) if stays_B.any() else 0
    first_row_B1 = torch.arange(num_sentences, device=stays_B.device)[:, None] * places
    tokens_BCT = batch.tokens_BKT.gather(1, parent_BC[:, :num_live, None].expand(-1, -1, length))
    advanced = replace(
        batch,
        free_B=free_B,
        best_BN=best_BN,
        sums_BK=sums_BC[:, :num_live],
        tokens_BKT=torch.cat((tokens_BCT, token_BC[:, :num_live, None]), dim=2),
    )
    return _moved(advanced, state, first_row_B1 + parent_BC[:, :num_live], stays_B, num_sentences * places)


def _moved(batch: _Batch[State], state: State, rows_BK: Tensor, stays_B: Tensor, num_rows: int) -> _Batch[State]:
    """Let the state follow the hypotheses, and let go of sentences that are done."""
    if not stays_B.any():  # nothing to compute any more: the state need not follow
        return replace(batch, sentence_B=batch.sentence_B[:0])
    if stays_B.all():
        rows_R = rows_BK.reshape(-1)
        is_same = len(rows_R) == num_rows and torch.equal(rows_R, torch.arange(num_rows, device=rows_R.device))
        return replace(batch, state=state if is_same else state.select(rows_R))
    sentences = stays_B.nonzero().squeeze(1)
    return _Batch(
        state=state.select(rows_BK[sentences].reshape(-1), sentences),
        sentence_B=batch.sentence_B[sentences],
        shortest_B=batch.shortest_B[sentences],
        longest_B=batch.longest_B[sentences],
        free_B=batch.free_B[sentences],
        best_BN=batch.best_BN[sentences],
        sums_BK=batch.sums_BK[sentences],
        tokens_BKT=batch.tokens_BKT[sentences],
    )


def _candidates(scores_RV: Tensor, batch: _Batch[State], beam: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sums, parents' places and tokens of each sentence's best continuations, as many as its beam has free places.

    Of equal ones that of the better parent comes first, then that of the lower token id.
    """
    num_sentences, places, _ = batch.tokens_BKT.shape
    # The best of a sentence are among the best of each of its rows.
    value_RC, token_RC = best_of_rows(scores_RV, min(beam, scores_RV.shape[1]))
    value_RC = torch.where(value_RC.isnan(), -torch.inf, value_RC)
    sums_BKC = batch.sums_BK[:, :, None] + value_RC.view(num_sentences, places, -1)
    sums_BC, order_BC = sums_BKC.flatten(1).sort(dim=1, descending=True, stable=True)
    sums_BC, order_BC = sums_BC[:, :beam], order_BC[:, :beam]
    token_BC = token_RC.reshape(num_sentences, -1).gather(1, order_BC)
    has_no_place_BC = torch.arange(sums_BC.shape[1], device=sums_BC.device) >= batch.free_B[:, None]
    return sums_BC.masked_fill(has_no_place_BC, -torch.inf), order_BC // value_RC.shape[1], token_BC


def _forbid(scores_RV: Tensor, batch: _Batch[State], rules: Rules) -> None:
    """Take away what must not come next."""
    _, places, length = batch.tokens_BKT.shape
    for token in rules.never:
        scores_RV[:, token] = -torch.inf
    if rules.no_repeat and length >= rules.no_repeat:
        _forbid_repetition(scores_RV, batch.tokens_BKT.flatten(0, 1), rules.no_repeat)
    is_too_short_B = length < batch.shortest_B
    if is_too_short_B.any():
        scores_RV[:, rules.eos].masked_fill_(is_too_short_B.repeat_interleave(places), -torch.inf)
    must_end_B = length >= batch.longest_B
    if must_end_B.any():
        must_end_R = must_end_B.repeat_interleave(places)
        end_R = scores_RV[:, rules.eos].clone()
        scores_RV.masked_fill_(must_end_R[:, None], -torch.inf)
        scores_RV[:, rules.eos] = end_R


def _forbid_repetition(scores_RV: Tensor, tokens_RT: Tensor, run: int) -> None:
    """Forbid the token that followed an earlier occurrence of the last run - 1 tokens."""
    runs_RTn = tokens_RT.unfold(1, run, 1)
    last_R1n = tokens_RT[:, None, tokens_RT.shape[1] - run + 1 :]
    is_repeated_RT = (runs_RTn[:, :, :-1] == last_R1n).all(dim=2)
    row_E, place_E = is_repeated_RT.nonzero(as_tuple=True)
    scores_RV[row_E, runs_RTn[row_E, place_E, -1]] = -torch.inf


def _collected(endings: Sequence[_Endings], num_sentences: int, rules: Rules) -> list[list[Hypothesis]]:
    """Each sentence's hypotheses in the order of their scores; of equal ones the one found first."""
    found: list[list[Hypothesis]] = [[] for _ in range(num_sentences)]
    for ending in endings:
        divisor = (ending.tokens_ET.shape[1] + 1) ** rules.length_penalty
        columns = (ending.sentence_E.tolist(), ending.sum_E.tolist(), ending.tokens_ET.tolist())
        for sentence, total, tokens in zip(*columns, strict=True):
            found[sentence].append(Hypothesis(tuple(tokens), total, total / divisor))
    return [sorted(each, key=lambda hypothesis: -hypothesis.score)[: rules.n_best] for each in found]
