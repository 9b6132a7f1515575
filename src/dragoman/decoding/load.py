"""A trained model, ready to translate: from a run directory, without the corpus that it was trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from dragoman.checkpoints import reading
from dragoman.checkpoints.average import average
from dragoman.core import config_file
from dragoman.core.config import Config, DecodingConfig
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths
from dragoman.corpus.vocab import Vocabulary
from dragoman.decoding.translate import Translator
from dragoman.model.batch import SpecialIds
from dragoman.model.machine import multiply_fast
from dragoman.model.transformer import Transformer


def build_model(
    config: Config, source: Vocabulary, target: Vocabulary, *, is_shared: bool, written: Sequence[int] | None = None
) -> Transformer:
    """The model of a recipe, with its first weights; it writes only some of the target's pieces, or all."""
    if config.model.tied == "three" and not is_shared:
        raise UserError("model.tied = three needs one vocabulary for both sides", "set model.tied = two")
    ids = SpecialIds(pad=target.special.pad, bos=target.special.bos, eos=target.special.eos)
    model = Transformer(config.model, source.size, target.size, ids, seed=config.training.seed)
    if written is not None:
        model.outputs.restrict(written)
    return model


@dataclass(frozen=True)
class Weights:
    """Weights of a run, and the steps whose mean they are."""

    tensors: dict[str, Tensor]
    steps: tuple[int, ...]


def load_weights(directory: Path, *, average_last: int = 1) -> Weights:
    """The best checkpoint of a run by dev loss (the newest where none was judged), or the mean of the last few."""
    checkpoints = RunPaths(directory).checkpoints
    if average_last > 1:
        averaged = average(checkpoints, average_last)
        return Weights(averaged.model, averaged.steps)
    loaded = reading.best(checkpoints) or reading.newest(checkpoints, reading.MODEL_ONLY)
    if loaded is None:
        raise UserError(f"{directory} has no checkpoint yet", "wait until training has written one")
    return Weights(loaded.model, (loaded.step,))


def load_run(directory: Path, decoding: DecodingConfig | None = None, *, average_last: int = 1) -> Translator:
    """A run's model as `load_weights` chooses it."""
    if not RunPaths(directory).config.is_file():
        raise UserError(f"{directory} is not a run: no config.toml", "train one with `dragoman train RECIPE.toml`")
    return with_weights(directory, load_weights(directory, average_last=average_last), decoding)


def with_weights(directory: Path, weights: Weights, decoding: DecodingConfig | None = None) -> Translator:
    """A run's model with these weights."""
    multiply_fast()
    paths = RunPaths(directory)
    config = config_file.load(paths.config)
    source, target = (Vocabulary(paths.vocabulary(side)) for side in ("source", "target"))
    is_shared = paths.vocabulary("source").read_bytes() == paths.vocabulary("target").read_bytes()
    model = build_model(config, source, target, is_shared=is_shared)
    model.outputs.load(weights.tensors)
    expected = {**dict(model.named_parameters()), **model.outputs.saved()}
    reading.check(weights.tensors, expected, f"the model in {paths.checkpoints}")
    model.load_state_dict(weights.tensors, strict=False)  # positions are computed, not loaded
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return Translator(model.to(device).eval(), source, target, decoding or config.decoding)
