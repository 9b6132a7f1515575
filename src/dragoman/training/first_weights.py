"""First weights of a run that are other runs': what they have learned is not learned anew.

Takes runs and the recipe of a new one; gives the new one's checkpoint of step 0, from which it goes on as from any
other. Of several runs it is the mean, which is of use where all of them began with the same weights. Only weights are
taken: no moments, no steps, and of the pieces that are written the new corpus's own. UserError where vocabularies or
models differ.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import Tensor

from dragoman.checkpoints import writing
from dragoman.checkpoints.average import mean
from dragoman.checkpoints.store import Snapshot
from dragoman.core import config_file, records
from dragoman.core.config import Config, ModelConfig
from dragoman.core.config_text import differences
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of
from dragoman.core.paths import WRITTEN_PIECES, RunPaths, step_name
from dragoman.corpus.shards import Corpus
from dragoman.decoding.load import load_weights
from dragoman.model.outputs import Outputs
from dragoman.training.state import TrainState

NOBODY = 0
"""World size of a checkpoint that no rank has trained yet."""
MAY_DIFFER = ("preset", "dropout", "attention_dropout", "activation_dropout", "label_smoothing")
"""Settings of [model] that weights do not depend on, once sizes are written out."""


def first_checkpoint(others: Sequence[Path], config: Config, corpus: Corpus) -> Snapshot:
    """The other runs' best weights as the beginning of a run of this recipe on this corpus."""
    for other in others:
        _refuse_what_does_not_fit(RunPaths(other), config, corpus)
    found = [load_weights(other) for other in others]
    outputs = Outputs(corpus.vocabularies["target"].size)
    outputs.restrict(corpus.written_pieces())
    origins = [f"{other}, step {weights.steps[0]:,}" for other, weights in zip(others, found, strict=True)]
    return Snapshot(
        step=0,
        model=mean(_without_pieces(weights.tensors) for weights in found) | outputs.saved(),
        optimizer={},
        state={
            "started_from": " and ".join(origins),
            "corpus_fingerprint": corpus.manifest.fingerprint,
            "world_size": NOBODY,
            "state": records.to_json(TrainState()),
        },
    )


def write(first: Snapshot, paths: RunPaths) -> None:
    """Into a run that has no checkpoint yet."""
    writing.write(paths.checkpoints / step_name(first.step), first.model, first.optimizer, first.as_json())


def _without_pieces(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in tensors.items() if name != WRITTEN_PIECES}


def _refuse_what_does_not_fit(paths: RunPaths, config: Config, corpus: Corpus) -> None:
    if not paths.config.is_file():
        raise UserError(f"{paths.directory} is not a run: no config.toml", "name run directories with --start-from")
    _refuse_other_vocabulary(paths, corpus)
    changes = differences(_shape(config_file.load(paths.config).model), _shape(config.model), "model")
    if changes:
        raise UserError(
            f"the model of {paths.directory} is another one: {'; '.join(changes)}",
            f"set [model] as {paths.config} does",
        )


def _shape(model: ModelConfig) -> dict[str, object]:
    return {name: value for name, value in records.to_json(model.sized()).items() if name not in MAY_DIFFER}


def _refuse_other_vocabulary(paths: RunPaths, corpus: Corpus) -> None:
    theirs = {side: sha256_of(paths.vocabulary(side)) for side in corpus.vocabularies}
    if all(theirs[side] == own.sha256 for side, own in corpus.vocabularies.items()):
        return
    is_shared = len(set(theirs.values())) == 1
    keys = {"model": "source"} if is_shared else {"source_model": "source", "target_model": "target"}
    settings = " and ".join(f'vocabulary.{key} = "{paths.vocabulary(side)}"' for key, side in keys.items())
    raise UserError(
        f"{paths.directory} has another vocabulary than {corpus.directory}; its weights mean nothing there",
        f"set {settings} in the recipe, and another corpus.directory",
    )
