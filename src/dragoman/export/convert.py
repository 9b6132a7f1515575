"""Our weights as a CTranslate2 model.

Takes a model and its vocabularies, writes `model.bin`, `config.json` and the vocabularies in CTranslate2's own words.
Both engines compute the same network; only names and the order of some matrices differ. Positions are written out,
so nothing depends on a formula that another version might change. The target vocabulary is what the model writes.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from ctranslate2 import specs
from torch import Tensor

from dragoman.corpus.vocab import Vocabulary
from dragoman.decoding.translate import Translator
from dragoman.export.engine import piece_names
from dragoman.model.passes import NORM_EPSILON
from dragoman.model.transformer import Attention, FeedForward, Norm, Transformer, sinusoids

ACTIVATIONS = {
    "relu": specs.Activation.RELU,
    "gelu": specs.Activation.GELU,  # the exact one, with erf
    "swish": specs.Activation.SWISH,
}
QUANTIZATIONS = ("int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16", "float32")
"""Of weights on disk. CTranslate2 computes with what the machine supports and converts while loading."""


def convert(trained: Translator, directory: Path, quantization: str, num_positions: int) -> None:
    """Write a model into a directory that exists; what else is in it stays."""
    spec = Conversion(trained.model, trained.source_vocabulary, trained.target_vocabulary, num_positions).spec()
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(directory))


class Conversion:
    """One model on its way to CTranslate2."""

    def __init__(self, model: Transformer, source: Vocabulary, target: Vocabulary, num_positions: int) -> None:
        self._model, self._source, self._target = model, source, target
        self._num_positions = num_positions

    def spec(self) -> Any:
        """The specification with all weights."""
        config = self._model.config
        spec = specs.TransformerSpec.from_config(
            (config.encoder_layers, config.decoder_layers),
            config.heads,
            pre_norm=config.norm == "pre",
            activation=ACTIVATIONS[config.activation],
        )
        spec.register_source_vocabulary(piece_names(self._source))
        names = piece_names(self._target)
        spec.register_target_vocabulary([names[piece] for piece in self._model.outputs.piece_O.tolist()])
        special = self._target.special
        spec.config.decoder_start_token = "<s>" if special.bos != special.eos else "</s>"
        spec.config.bos_token = spec.config.decoder_start_token
        spec.config.add_source_eos = True
        spec.config.layer_norm_epsilon = NORM_EPSILON
        self._fill_encoder(spec.encoder)
        self._fill_decoder(spec.decoder)
        return spec

    def _fill_encoder(self, spec: Any) -> None:
        spec.embeddings[0].weight = _numbers(self._model.source_table)
        spec.position_encodings.encodings = self._positions()
        if self._model.config.norm == "pre":
            _fill_norm(spec.layer_norm, self._model.encoder_norm)
        for layer_spec, layer in zip(spec.layer, self._model.encoder_layers, strict=True):
            _fill_attention(layer_spec.self_attention, layer.attention)
            _fill_feed_forward(layer_spec.ffn, layer.feed_forward)

    def _fill_decoder(self, spec: Any) -> None:
        rows_of = self._model.outputs.rows_of
        spec.embeddings.weight = _numbers(rows_of(self._model.target_embedding))
        spec.projection.weight = _numbers(rows_of(self._model.output_table))
        spec.position_encodings.encodings = self._positions()
        if self._model.config.norm == "pre":
            _fill_norm(spec.layer_norm, self._model.decoder_norm)
        for layer_spec, layer in zip(spec.layer, self._model.decoder_layers, strict=True):
            _fill_attention(layer_spec.self_attention, layer.attention)
            _fill_attention(layer_spec.attention, layer.cross)
            _fill_feed_forward(layer_spec.ffn, layer.feed_forward)

    def _positions(self) -> npt.NDArray[np.float32]:
        return _numbers(sinusoids(self._num_positions, self._model.config.width))


def _fill_attention(spec: Any, attention: Attention) -> None:
    """Queries, keys and values are one matrix in self-attention; keys and values are one to the source."""
    _fill_norm(spec.layer_norm, attention.norm)
    spec.linear[0].weight = _numbers(attention.inputs)
    if attention.memory is not None:
        spec.linear[1].weight = _numbers(attention.memory)
    spec.linear[-1].weight = _numbers(attention.output)


def _fill_feed_forward(spec: Any, feed_forward: FeedForward) -> None:
    _fill_norm(spec.layer_norm, feed_forward.norm)
    spec.linear_0.weight, spec.linear_0.bias = _numbers(feed_forward.inner), _numbers(feed_forward.inner_bias)
    spec.linear_1.weight, spec.linear_1.bias = _numbers(feed_forward.outer), _numbers(feed_forward.outer_bias)


def _fill_norm(spec: Any, norm: Norm) -> None:
    spec.gamma, spec.beta = _numbers(norm.scale), _numbers(norm.shift)


def _numbers(tensor: Tensor) -> npt.NDArray[np.float32]:
    """A copy: quantizing changes what it is given."""
    numbers: npt.NDArray[np.float32] = tensor.detach().cpu().float().numpy().copy()
    return numbers
