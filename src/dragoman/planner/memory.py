"""Memory of one GPU: what stays, what a token of a micro-batch adds, and so what fits.

A formula of what plain autograd keeps until backward (`model/plain`), per token and layer. Tests count the same on a
CPU; on a GPU it is untested, and the allocator's own waste is a guess. Other systems keep other things: `TENSORFLOW_1`
is what the graph of OpenSeq2Seq holds.

    D width  F inner width  H heads  K keys
"""

from dataclasses import dataclass

from dragoman.core.units import size
from dragoman.planner.workload import Workload
from dragoman.theory import cost

RESERVED_BYTES = 10**9
"""CUDA's own, its libraries and the allocator's holes: an assumption."""


@dataclass(frozen=True)
class Keeping:
    """What a system holds between forward and backward, in copies of a token's vector."""

    norm_copies: int
    """Of width: input and what else the norm's gradient needs."""
    has_number_masks: bool
    """Dropout masks are kept as numbers, and what the norm needs in 16 bits where multiplies are; else as one byte,
    and in 32 bits."""
    dropped_copies: int
    """Of the inner layer and of attention weights where dropout keeps its result beside its input."""
    logits_copies: int
    """Of all logits at the fullest moment, in 32 bits."""

    def mask_bytes(self, number: int) -> int:
        return number if self.has_number_masks else 1

    def residual_bytes(self, number: int) -> int:
        return self.norm_copies * (number if self.has_number_masks else cost.FLOAT_BYTES)


PYTORCH = Keeping(norm_copies=1, has_number_masks=False, dropped_copies=1, logits_copies=3)
TENSORFLOW_1 = Keeping(norm_copies=3, has_number_masks=True, dropped_copies=1, logits_copies=3)
"""Norms written out in elementary operations keep their steps; with mixed precision all but the loss is 16 bits."""


@dataclass(frozen=True)
class MemoryNeed:
    """Bytes of one GPU with micro-batches of so many target tokens."""

    tokens: int
    state_bytes: int
    """Weights, gradients, moments, and copies in 16 bits."""
    activation_bytes: int
    logits_bytes: int
    """One copy of all logits in 32 bits."""
    loss_bytes: int
    """All that the loss holds at its fullest, logits included."""
    total_bytes: int
    device_bytes: int | None
    largest_tokens: int | None
    """Target tokens of the largest micro-batch that fits; 0 if not even one sentence does, None without a device."""

    @property
    def fits(self) -> bool | None:
        return None if self.device_bytes is None else self.total_bytes <= self.device_bytes

    def sentence(self) -> str:
        """For people: what it takes, and what would fit."""
        logits = f"logits alone need {self.logits_bytes / 1e9:.2f} GB"
        text = f"a micro-batch of {self.tokens:,} target tokens needs {size(self.total_bytes)} a GPU"
        if self.device_bytes is None or self.largest_tokens is None:
            return f"{text}; {logits}"
        if self.fits:
            return f"{text} of {size(self.device_bytes)}; {logits}; up to {self.largest_tokens:,} tokens fit"
        end = f"at most {self.largest_tokens:,} tokens fit" if self.largest_tokens else "not even one sentence fits"
        return f"{text}, which has {size(self.device_bytes)}: it will run out of memory; {logits}; {end}"


def need(
    work: Workload, precision: str, device_bytes: int | None, tokens: int, keeping: Keeping = PYTORCH
) -> MemoryNeed:
    """What a micro-batch of `tokens` target tokens takes."""
    state = state_bytes(work, precision)
    kept = kept_bytes_per_token(work, precision, keeping)
    loss = loss_bytes_per_token(work, precision, keeping)
    usable = device_bytes - RESERVED_BYTES if device_bytes is not None else None
    largest = max(0, int((usable - state) / (kept + loss))) if usable is not None else None
    if largest is not None and largest < work.target_length:
        largest = 0
    total = round(state + (kept + loss) * tokens)
    logits = tokens * work.target_vocabulary * cost.FLOAT_BYTES
    return MemoryNeed(tokens, state, round(kept * tokens), logits, round(loss * tokens), total, usable, largest)


def state_bytes(work: Workload, precision: str) -> int:
    """What stays from step to step; autocast keeps weights in 16 bits too, and the mean of the weights is one more."""
    extra = (2 if precision != "fp32" else 0) + (cost.FLOAT_BYTES if work.has_average else 0)
    return cost.training_state_bytes(work.num_parameters, work.muon_parameters) + extra * work.num_parameters


def loss_bytes_per_token(work: Workload, precision: str, keeping: Keeping) -> float:
    """At the fullest moment of the loss; with 16 bits, a copy of the logits more."""
    return work.target_vocabulary * (keeping.logits_copies * cost.FLOAT_BYTES + (2 if precision != "fp32" else 0))


def kept_bytes_per_token(work: Workload, precision: str, keeping: Keeping) -> float:
    """All layers, for one target token and its share of source tokens."""
    model, number = work.model, (cost.FLOAT_BYTES if precision == "fp32" else 2)
    sources = work.source_length / work.target_length
    inner = _feed_forward(work, number, keeping)
    source_row = inner + _attention(work, number, keeping, work.source_length, own_keys=True)
    own = _attention(work, number, keeping, work.target_length, own_keys=True)
    cross = _attention(work, number, keeping, work.source_length, own_keys=False)
    memory_row = (2 * number + (2 if number == 2 else 0)) * model.width  # keys and values of the encoder's output
    layers = model.encoder_layers * source_row * sources
    layers += model.decoder_layers * (inner + own + cross + memory_row * sources)
    ends = (1 + sources) * model.width * (3 * cost.FLOAT_BYTES + keeping.mask_bytes(number))
    return layers + ends


def _sublayer(work: Workload, number: int, keeping: Keeping) -> float:
    """Input in 32 bits with what the norm needs, the normed rows, and the mask of the result."""
    return work.model.width * (keeping.residual_bytes(number) + number + keeping.mask_bytes(number))


def _feed_forward(work: Workload, number: int, keeping: Keeping) -> float:
    model = work.model
    copies = 1 if model.activation == "relu" else 2
    dropped = (keeping.dropped_copies * number + keeping.mask_bytes(number)) if model.activation_dropout else 0
    return _sublayer(work, number, keeping) + model.feed_forward * (copies * number + dropped)


def _attention(work: Workload, number: int, keeping: Keeping, num_keys: float, *, own_keys: bool) -> float:
    """Queries, keys and values of its own, the context twice (by head and joined), and attention weights."""
    model = work.model
    rows = model.width * number * (2 + 1 + 2 * own_keys)
    dropped = (keeping.dropped_copies * number + keeping.mask_bytes(number)) if model.attention_dropout else 0
    weights = model.heads * num_keys * (number + dropped)
    return _sublayer(work, number, keeping) + rows + weights
