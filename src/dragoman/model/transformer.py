"""The encoder–decoder Transformer of Vaswani et al. 2017, whole.

Takes settings, vocabulary sizes and special ids. Two ways in: `forward` gives the loss of a batch as sums over its
target tokens; `encode` and `step` translate a token at a time with cached keys and values. Computes on packed rows of
real tokens, so padding changes neither results nor cost. Everything that CTranslate2 can express, and nothing else.
"""

# B sentences  S source tokens  T target tokens  R hypotheses: B x beams  H heads  K head width  D width  F inner width
# V vocabulary  O pieces that are written  N real target tokens, packed  M real source tokens, packed

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.core.config import ModelConfig
from dragoman.core.errors import UserError
from dragoman.model import fused, plain
from dragoman.model.batch import Batch, Packing, SpecialIds
from dragoman.model.decoder_state import DecoderState, KeysValues
from dragoman.model.geometry import Geometries, Geometry, key_bias
from dragoman.model.loss import Loss, cross_entropy
from dragoman.model.noise import Noise
from dragoman.model.outputs import Outputs
from dragoman.model.parameters import AttentionWeights, FeedForwardWeights, NormWeights, Switches


def sublayers(device: torch.device) -> ModuleType:
    """Hand-written gradients where they are faster; the one place where the device decides what runs."""
    return fused if device.type == "cpu" else plain


class Norm(nn.Module):
    """Layer norm with scale and shift."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def weights(self) -> NormWeights:
        return NormWeights(self.scale, self.shift)

    def forward(self, x_ND: Tensor) -> Tensor:
        return plain.layer_norm(x_ND, self.weights())


class Attention(nn.Module):
    """Multi-head attention with its norm and residual connection; with `reads_memory`, to the encoder's output."""

    def __init__(self, config: ModelConfig, *, reads_memory: bool) -> None:
        super().__init__()
        width, self.heads, self.is_pre = config.width, config.heads, config.norm == "pre"
        self.norm = Norm(width)
        self.inputs = nn.Parameter(torch.empty(width if reads_memory else 3 * width, width))
        self.memory = nn.Parameter(torch.empty(2 * width, width)) if reads_memory else None
        self.output = nn.Parameter(torch.empty(width, width))

    def forward(self, x_ND: Tensor, memory_MD: Tensor | None, geometry: Geometry, switches: Switches) -> Tensor:
        weights = AttentionWeights(self.inputs, self.memory, self.output, self.heads)
        norm = self.norm.weights() if self.is_pre else None
        y_ND: Tensor = sublayers(x_ND.device).attention(x_ND, memory_MD, norm, weights, geometry, switches)
        return y_ND if self.is_pre else self.norm(y_ND)

    def step(self, x_RD: Tensor, past: KeysValues, bias: Tensor) -> tuple[Tensor, KeysValues]:
        """One query a hypothesis; self-attention first adds its key and value to the past, cross-attention only reads.

        The bias is (B, 1, P, t) of the columns that each may see, or (B, 1, 1, S) of the source.
        """
        # All beams of a sentence are queries of one matrix, so that keys are neither repeated nor re-ordered.
        parts = F.linear(self.norm(x_RD) if self.is_pre else x_RD, self.inputs)
        num_parts, width, num_keys = len(self.inputs) // x_RD.shape[1], x_RD.shape[1] // self.heads, bias.shape[3]
        parts_BHPK = parts.view(len(bias), -1, num_parts, self.heads, width).permute(2, 0, 3, 1, 4)
        q_BHPK = parts_BHPK[0]
        if self.memory is None:
            past = past.written(parts_BHPK[1], parts_BHPK[2], num_keys - q_BHPK.shape[2])
        scores_BHPt = (q_BHPK @ past.keys[:, :, :num_keys].mT).mul_(width**-0.5).add_(bias)
        context_BHPK = torch.softmax(scores_BHPt, dim=-1) @ past.values[:, :, :num_keys]
        y_RD = torch.addmm(x_RD, context_BHPK.transpose(1, 2).reshape(x_RD.shape), self.output.t())
        return y_RD if self.is_pre else self.norm(y_RD), past


class FeedForward(nn.Module):
    """Two linear layers and an activation, with norm and residual connection."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.is_pre = config.norm == "pre"
        self.norm = Norm(config.width)
        self.inner = nn.Parameter(torch.empty(config.feed_forward, config.width))
        self.inner_bias = nn.Parameter(torch.zeros(config.feed_forward))
        self.outer = nn.Parameter(torch.empty(config.width, config.feed_forward))
        self.outer_bias = nn.Parameter(torch.zeros(config.width))

    def forward(self, x_ND: Tensor, switches: Switches) -> Tensor:
        weights = FeedForwardWeights(self.inner, self.inner_bias, self.outer, self.outer_bias)
        norm = self.norm.weights() if self.is_pre else None
        y_ND: Tensor = sublayers(x_ND.device).feed_forward(x_ND, norm, weights, switches)
        return y_ND if self.is_pre else self.norm(y_ND)


class EncoderLayer(nn.Module):
    """Self-attention, feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = Attention(config, reads_memory=False)
        self.feed_forward = FeedForward(config)

    def forward(self, x_MD: Tensor, geometry: Geometry, switches: Switches) -> Tensor:
        y_MD: Tensor = self.feed_forward(self.attention(x_MD, None, geometry, switches), switches)
        return y_MD


class DecoderLayer(nn.Module):
    """Self-attention, attention to the source, feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = Attention(config, reads_memory=False)
        self.cross = Attention(config, reads_memory=True)
        self.feed_forward = FeedForward(config)

    def forward(self, x_ND: Tensor, memory_MD: Tensor, geometries: Geometries, switches: Switches) -> Tensor:
        x_ND = self.attention(x_ND, None, geometries.decoder, switches)
        y_ND: Tensor = self.feed_forward(self.cross(x_ND, memory_MD, geometries.cross, switches), switches)
        return y_ND


class Transformer(nn.Module):
    """Everything from ids to loss."""

    positions_LD: Tensor

    def __init__(
        self, config: ModelConfig, source_vocabulary: int, target_vocabulary: int, ids: SpecialIds, *, seed: int = 1
    ) -> None:
        super().__init__()
        self.config = config = config.sized()
        config.validate()
        if config.tied == "three" and source_vocabulary != target_vocabulary:
            raise UserError(
                f"model.tied = 'three' needs one vocabulary, not {source_vocabulary:,} source and"
                f" {target_vocabulary:,} target pieces",
                "set model.tied = 'two' or vocabulary.shared = true",
            )
        self.ids = ids
        self.accumulate_in_place = False
        self.multiplied_in: torch.dtype | None = None
        """Kind of numbers in the matrix products of training on a CPU; None is that of the weights."""
        self.draws_columns = False
        """Of the logits' gradient when training on a CPU: as good on average, and faster."""
        self.dropout_share = 1.0
        """Of the dropout that the settings name: how much is used now."""
        self._generator: torch.Generator | None = None
        self.target_embedding = nn.Parameter(torch.empty(target_vocabulary, config.width))
        if config.tied != "three":
            self.source_embedding = nn.Parameter(torch.empty(source_vocabulary, config.width))
        if config.tied == "none":
            self.output = nn.Parameter(torch.empty(target_vocabulary, config.width))
        self.outputs = Outputs(target_vocabulary)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        if config.norm == "pre":
            self.encoder_norm, self.decoder_norm = Norm(config.width), Norm(config.width)
        self.register_buffer("positions_LD", sinusoids(256, config.width), persistent=False)
        self._initialise(torch.Generator().manual_seed(seed))

    @torch.no_grad()
    def _initialise(self, generator: torch.Generator) -> None:
        """Xavier for matrices, each part of a fused one by itself; N(0, D^-0.5) for embeddings."""
        width = self.config.width
        for name, parameter in self.named_parameters():
            if "embedding" in name or name == "output":
                parameter.normal_(0.0, width**-0.5, generator=generator)
            elif parameter.dim() == 2:
                for part in torch.split(parameter, width) if "attention" in name or "cross" in name else (parameter,):
                    nn.init.xavier_uniform_(part, generator=generator)

    @property
    def encoder_layers(self) -> list[EncoderLayer]:
        return cast(list[EncoderLayer], list(self.encoder))

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        return cast(list[DecoderLayer], list(self.decoder))

    @property
    def source_table(self) -> Tensor:
        return self.target_embedding if self.config.tied == "three" else self.source_embedding

    @property
    def output_table(self) -> Tensor:
        return self.output if self.config.tied == "none" else self.target_embedding

    def seed_dropout(self, seed: int) -> None:
        """Start all random numbers anew; from (seed, step, rank), so that a resumed run draws the same."""
        device = self.target_embedding.device
        if device.type == "cpu":
            self._generator = torch.Generator().manual_seed(seed)
        else:
            torch.cuda.manual_seed(seed)

    def forward(self, batch: Batch) -> Loss:
        """The loss, as sums over the target tokens of the batch."""
        target_N = batch.target.pack(batch.target_BT)
        hidden_ND = self._hidden(batch, target_N)
        return cross_entropy(
            hidden_ND,
            self.output_table,
            self.outputs.column_V[target_N],
            self.config.label_smoothing,
            rows_V=None if self.outputs.are_all else self.outputs.piece_O,
            in_chunks=sublayers(hidden_ND.device) is fused,
            accumulate_in_place=self.accumulate_in_place,
            multiplied_in=self.multiplied_in if self.training else None,
            drawn_by=self._generator if self.training and self.draws_columns else None,
        )

    @torch.no_grad()
    def score(self, batch: Batch) -> Tensor:
        """The log-probability of every target token given those before it, packed; -inf of what is never written."""
        target_N = batch.target.pack(batch.target_BT)
        logits_NO = F.linear(self._hidden(batch, target_N), self.outputs.rows_of(self.output_table))
        column_N = self.outputs.column_V[target_N]
        found_N = torch.log_softmax(logits_NO, dim=1).gather(1, column_N.clamp(min=0)[:, None]).squeeze(1)
        return found_N.masked_fill(column_N < 0, -torch.inf)

    @torch.no_grad()
    def encode(self, source_BS: Tensor, lengths: Sequence[int], beams: int = 1) -> DecoderState:
        """Read sentences; what `step` needs to write `beams` translations of each."""
        source = Packing.of(lengths, source_BS.shape[1]).to(source_BS.device)
        geometry = Geometry(source, source, self.config.heads, is_self=True)
        memory_MD = self._encoded(source.pack(source_BS), source, geometry, self._switches())
        memory_BSD = memory_MD.new_zeros(*source_BS.shape, memory_MD.shape[1])
        memory_BSD[source.sentence_N, source.position_N] = memory_MD
        heads, width = self.config.heads, self.config.width // self.config.heads
        memory, past = [], []
        for layer in self.decoder_layers:
            assert layer.cross.memory is not None
            parts_BSPHK = F.linear(memory_BSD, layer.cross.memory).view(*source_BS.shape, 2, heads, width)
            memory.append(KeysValues(*parts_BSPHK.permute(2, 0, 3, 1, 4).contiguous()))
            nothing_BHtK = memory_MD.new_empty(len(source_BS), heads, 0, width)
            past.append(KeysValues(nothing_BHtK, nothing_BHtK))
        sees_B1Pt = memory_MD.new_empty(len(source_BS), 1, beams, 0)
        bias_B11S, table_OD = key_bias(source, source.longest)[:, None, None], self.outputs.rows_of(self.output_table)
        return DecoderState(0, tuple(past), sees_B1Pt, tuple(memory), bias_B11S, table_OD)

    @torch.no_grad()
    def step(self, tokens_R: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Feed one token a hypothesis, bos first: (R, O) log-probabilities of the next, and the state after it.

        Tokens are columns of `outputs`.
        """
        position_D = self._positions(state.position + 1)[state.position]
        embedded_RD = F.embedding(self.outputs.piece_O[tokens_R], self.target_embedding)
        x_RD = embedded_RD * self.config.width**0.5 + position_D
        past, sees_B1Pt = [], state.seeing_themselves(len(tokens_R))
        for layer, own, memory in zip(self.decoder_layers, state.past, state.memory, strict=True):
            x_RD, own = layer.attention.step(x_RD, own, sees_B1Pt)
            x_RD, _ = layer.cross.step(x_RD, memory, state.bias_B11S)
            x_RD = layer.feed_forward(x_RD, self._switches())
            past.append(own)
        if self.config.norm == "pre":
            x_RD = self.decoder_norm(x_RD)
        # In place: a second (R, O) tensor costs more in fresh memory than the softmax itself.
        logits_RO = F.linear(x_RD, state.table_OD)
        log_probabilities_RO = torch.log_softmax(logits_RO, dim=1, out=logits_RO)
        return log_probabilities_RO, replace(state, position=state.position + 1, past=tuple(past), sees_B1Pt=sees_B1Pt)

    def _hidden(self, batch: Batch, target_N: Tensor) -> Tensor:
        """What the output matrix is multiplied with."""
        switches, geometries = self._switches(), Geometries.of(batch, self.config.heads)
        source_M = batch.source.pack(batch.source_BS)
        memory_MD = self._encoded(source_M, batch.source, geometries.encoder, switches)
        before_N = torch.where(batch.target.position_N == 0, self.ids.bos, target_N.roll(1))
        x_ND = self._embedded(self.target_embedding, before_N, batch.target, switches)
        for layer in self.decoder_layers:
            x_ND = layer(x_ND, memory_MD, geometries, switches)
        return self.decoder_norm(x_ND) if self.config.norm == "pre" else x_ND

    def _encoded(self, source_M: Tensor, source: Packing, geometry: Geometry, switches: Switches) -> Tensor:
        x_MD = self._embedded(self.source_table, source_M, source, switches)
        for layer in self.encoder_layers:
            x_MD = layer(x_MD, geometry, switches)
        return self.encoder_norm(x_MD) if self.config.norm == "pre" else x_MD

    def _embedded(self, table_VD: Tensor, ids_N: Tensor, packing: Packing, switches: Switches) -> Tensor:
        position_ND = self._positions(packing.longest)[packing.position_N]
        x_ND: Tensor = sublayers(table_VD.device).embed(table_VD, ids_N, position_ND, switches)
        return x_ND

    def _positions(self, length: int) -> Tensor:
        if length > len(self.positions_LD):
            self.positions_LD = sinusoids(2 * length, self.config.width).to(self.positions_LD)
        return self.positions_LD

    def _switches(self) -> Switches:
        if not self.training:
            return Switches(self.config.activation)
        rates = self.config.dropout, self.config.attention_dropout, self.config.activation_dropout
        dropout, attention, activation = (Noise(rate * self.dropout_share, self._generator) for rate in rates)
        return Switches(
            *(self.config.activation, dropout, attention, activation), self.accumulate_in_place, self.multiplied_in
        )


def sinusoids(length: int, width: int) -> Tensor:
    """(length, width) position encodings: sines in the first half, cosines in the second, of falling frequency."""
    frequencies = 10_000.0 ** -(torch.arange(width // 2, dtype=torch.float64) / (width // 2))
    angles_LF = torch.arange(length, dtype=torch.float64)[:, None] * frequencies
    return torch.cat((angles_LF.sin(), angles_LF.cos()), dim=1).float()
