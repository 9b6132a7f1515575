"""Label-smoothed cross-entropy of real tokens, without ever holding all logits.

Takes the decoder's last hidden rows and the output matrix; gives sums over target tokens. On a CPU the logits of one
chunk of tokens live at a time: their gradient is formed at once, in the same memory, and only the small products with
hidden rows and matrix are kept. The smoothing itself costs no pass over the logits: a constant on every logit is a
rank-one term of both gradients, and the sum of all logits is the product of a hidden row with the sum of the matrix.

Most pieces get hardly any probability from a chunk of tokens, and yet two of three products are with their gradient. So
training may draw which of these count: `drawn_columns`. The loss itself is always that of all logits.
"""

# N real target tokens, packed  C tokens of one chunk  D width  V pieces that are predicted  W rows of the table
# S columns that were drawn

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.model.kernel import built
from dragoman.model.products import add_product, operand, product, weight, write_product

CHUNK_TOKENS = 512
"""256 to 1,024 made no difference that we could measure; more costs memory: 16 MB a chunk for 8,000 pieces."""
WHOLE_MASS = 0.1
"""A column whose probabilities add up to this over a chunk always counts. One target token weighs ten times as much, so
the noise of drawing is small beside that of the text itself: 0.1 learns as fast as all, 0.3 more slowly (2026-11)."""
MOST_DRAWN = 0.5
"""Of all columns; where more would be drawn, as in the first steps of a run, all count."""
COLUMNS_AT_ONCE = 64
"""Their number is filled up to a multiple of this, so that products have few different shapes."""


@dataclass(frozen=True)
class Loss:
    """Sums over the target tokens of a batch, in nats."""

    smoothed_sum: Tensor
    """What training minimises; carries the gradient."""
    plain_N: Tensor
    """Cross-entropy of each token without smoothing: what is logged and what perplexity is made of. No gradient."""

    @property
    def plain_sum(self) -> Tensor:
        return self.plain_N.sum(dtype=torch.float64)

    @property
    def num_tokens(self) -> int:
        return len(self.plain_N)


def cross_entropy(
    hidden_ND: Tensor,
    table_WD: Tensor,
    target_N: Tensor,
    smoothing: float,
    *,
    rows_V: Tensor | None = None,
    in_chunks: bool = True,
    accumulate_in_place: bool = False,
    multiplied_in: torch.dtype | None = None,
    drawn_by: torch.Generator | None = None,
) -> Loss:
    """The loss of predicting `target_N` from logits `hidden_ND @ table_WD.T`, of all rows of the table or of some.

    With a generator, in chunks, columns of its gradient are drawn.
    """
    if not in_chunks:
        logits_NV = F.linear(hidden_ND, table_WD if rows_V is None else table_WD.index_select(0, rows_V))
        plain_N = F.cross_entropy(logits_NV.detach(), target_N, reduction="none")
        smoothed_sum = F.cross_entropy(logits_NV, target_N, reduction="sum", label_smoothing=smoothing)
    else:
        switches = accumulate_in_place, multiplied_in, drawn_by
        arguments = hidden_ND, table_WD, rows_V, target_N, smoothing, *switches
        smoothed_sum, plain_N = ChunkedCrossEntropy.apply(*arguments)  # type: ignore[no-untyped-call]
    return Loss(smoothed_sum, plain_N.detach())


class ChunkedCrossEntropy(torch.autograd.Function):
    """Linear and cross-entropy together: the smoothed sum, and the plain one of each token.

    Gradients for a sum of 1 are formed in the forward pass.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden_ND: Tensor,
        table_WD: Tensor,
        rows_V: Tensor | None,
        target_N: Tensor,
        smoothing: float,
        accumulate_in_place: bool,
        kind: torch.dtype | None,
        drawn_by: torch.Generator | None,
    ) -> tuple[Tensor, Tensor]:
        weight_VD = table_WD if rows_V is None else table_WD.index_select(0, rows_V)
        needs_gradient = any(ctx.needs_input_grad)
        d_hidden_ND = torch.empty_like(hidden_ND)
        weight_sum_D, share = weight_VD.sum(dim=0), smoothing / len(weight_VD)
        d_weight_VD = (hidden_ND.sum(dim=0) * -share).expand_as(weight_VD)  # the smoothing's own part
        d_weight_VD = d_weight_VD.contiguous() if needs_gradient else d_weight_VD
        target_logit_N, probability_N = hidden_ND.new_empty(2, len(hidden_ND))
        ready_VD = weight(weight_VD, kind)
        for start in range(0, len(hidden_ND), CHUNK_TOKENS):
            rows = slice(start, start + CHUNK_TOKENS)
            hidden_CD, target_C1 = operand(hidden_ND[rows], kind), target_N[rows, None]
            d_logits_CV, target_logit_N[rows], probability_N[rows] = _gradient(
                hidden_CD, ready_VD, target_C1, smoothing, hidden_ND.dtype
            )
            if needs_gradient:
                drawn = None if drawn_by is None else drawn_columns(d_logits_CV, target_C1, drawn_by)
                _add_gradients(d_logits_CV, ready_VD, hidden_CD, drawn, d_hidden_ND[rows], d_weight_VD)
        if needs_gradient:
            d_hidden_ND.sub_(weight_sum_D, alpha=share)
            ctx.save_for_backward(d_hidden_ND, d_weight_VD, rows_V)
            ctx.table_WD, ctx.accumulate_in_place = table_WD, accumulate_in_place
        plain_N = _surprise(probability_N, target_logit_N, hidden_ND, weight_VD)
        plain_sum = plain_N.sum(dtype=torch.float64)
        log_sum, mean_logit = (plain_N + target_logit_N).sum(dtype=torch.float64), hidden_ND @ weight_sum_D
        uniform_sum = log_sum - mean_logit.sum(dtype=torch.float64) / len(weight_VD)
        smoothed_sum = (1 - smoothing) * plain_sum + smoothing * uniform_sum
        ctx.mark_non_differentiable(plain_N)
        return smoothed_sum.to(hidden_ND.dtype), plain_N

    @staticmethod
    def backward(ctx: Any, d_smoothed: Tensor, _d_plain: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden_ND, d_weight_VD, rows_V = ctx.saved_tensors
        in_place = ctx.accumulate_in_place and ctx.table_WD.grad is not None
        d_table_WD = ctx.table_WD.grad if in_place else torch.zeros_like(ctx.table_WD)
        if rows_V is None:
            d_table_WD.add_(d_weight_VD, alpha=float(d_smoothed))
        else:
            d_table_WD.index_add_(0, rows_V, d_weight_VD, alpha=float(d_smoothed))
        return d_hidden_ND * d_smoothed, None if in_place else d_table_WD, *[None] * 6


def drawn_columns(d_logits_CV: Tensor, target_C1: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor] | None:
    """Columns of a gradient that stand for all of them, and what each is multiplied by; None: take them all.

    A column is drawn by its mass, the sum of its probabilities, and then raised to `WHOLE_MASS`; so on average every
    gradient is what it would be with all of them. Columns of targets always count.
    """
    mass_V = d_logits_CV.sum(dim=0, dtype=torch.float32)
    chance_V = mass_V.div_(WHOLE_MASS).clamp_(max=1.0).index_fill_(0, target_C1.squeeze(1), 1.0)
    column_S = (torch.rand(len(chance_V), generator=generator) < chance_V).nonzero().squeeze(1)
    if len(column_S) > MOST_DRAWN * len(chance_V):
        return None
    filling = (0, -len(column_S) % COLUMNS_AT_ONCE)  # the first column once more, times nothing
    return F.pad(column_S, filling), F.pad(chance_V[column_S].reciprocal(), filling)


def _add_gradients(
    d_logits_CV: Tensor,
    weight_VD: Tensor,
    hidden_CD: Tensor,
    drawn: tuple[Tensor, Tensor] | None,
    d_hidden_CD: Tensor,
    d_weight_VD: Tensor,
) -> None:
    """From the gradient of a chunk's logits, or of some of its columns, to those of hidden rows and matrix."""
    if drawn is None:
        write_product(d_logits_CV, weight_VD, d_hidden_CD)
        add_product(d_weight_VD, d_logits_CV.t(), hidden_CD)
        return
    column_S, factor_S = drawn
    d_logits_CS = d_logits_CV.index_select(1, column_S).mul_(factor_S)
    write_product(d_logits_CS, weight_VD.index_select(0, column_S), d_hidden_CD)
    d_weight_SD = write_product(d_logits_CS.t(), hidden_CD, d_weight_VD.new_empty(len(column_S), d_weight_VD.shape[1]))
    d_weight_VD.index_add_(0, column_S, d_weight_SD)


def _gradient(
    hidden_CD: Tensor, weight_VD: Tensor, target_C1: Tensor, smoothing: float, kind: torch.dtype
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient of the logits of a chunk but for what smoothing adds to all; logit and probability of each target.

    Ready to be multiplied, as `hidden` and `weight` are; in `kind` of numbers otherwise.
    """
    kernel = built() if hidden_CD.dtype == torch.bfloat16 else None
    if kernel is not None:
        narrow_CV = hidden_CD @ weight_VD.t()
        return narrow_CV, *kernel.loss_rows(narrow_CV, target_C1, smoothing)
    filled_CV = product(hidden_CD, weight_VD.t())
    logits_CV = filled_CV[: len(target_C1)].to(kind)
    target_logit_C = logits_CV.gather(1, target_C1).squeeze(1)
    d_logits_CV = torch.softmax(logits_CV, dim=1, out=logits_CV)
    probability_C = d_logits_CV.gather(1, target_C1).squeeze(1)
    d_logits_CV.scatter_add_(1, target_C1, d_logits_CV.new_full(target_C1.shape, smoothing - 1))
    ready_CV = filled_CV if filled_CV.dtype == kind else operand(d_logits_CV, filled_CV.dtype)
    return ready_CV, target_logit_C, probability_C


def _surprise(probability_N: Tensor, target_logit_N: Tensor, hidden_ND: Tensor, weight_VD: Tensor) -> Tensor:
    """-log p of each target; from all logits of the token once more where p has lost digits, which is rare."""
    surprise_N = -probability_N.log()
    hopeless = (probability_N < 1e6 * torch.finfo(probability_N.dtype).tiny).nonzero().squeeze(1)
    if len(hopeless):
        log_sum = (hidden_ND[hopeless] @ weight_VD.t()).logsumexp(dim=1)
        surprise_N[hopeless] = log_sum - target_logit_N[hopeless]
    return surprise_N
