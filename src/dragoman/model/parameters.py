"""The weights of one sub-layer, and what it needs to know beside them."""

# D width  F inner width

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from dragoman.model.noise import SILENCE, Noise


class NormWeights(NamedTuple):
    """Layer norm."""

    scale: Tensor
    shift: Tensor


class AttentionWeights(NamedTuple):
    """Projections without bias. Self-attention: inputs (3D, D), no memory. Cross: inputs (D, D), memory (2D, D)."""

    inputs: Tensor
    memory: Tensor | None
    output: Tensor
    heads: int


class FeedForwardWeights(NamedTuple):
    """inner (F, D) and outer (D, F) with their biases."""

    inner: Tensor
    inner_bias: Tensor
    outer: Tensor
    outer_bias: Tensor


@dataclass(frozen=True)
class Switches:
    """What all sub-layers of one forward pass share."""

    activation: str
    dropout: Noise = SILENCE
    attention_dropout: Noise = SILENCE
    activation_dropout: Noise = SILENCE
    accumulate_in_place: bool = False
    """Add weight gradients straight into `.grad` where there is one; autograd's hooks on these weights do not run."""
    multiplied_in: torch.dtype | None = None
    """Kind of numbers in matrix products on a CPU; None is that of the weights."""
