"""A run that begins with another one's weights."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from safetensors.torch import load_file
from torch import Tensor

from dragoman.checkpoints import reading
from dragoman.core import config_file
from dragoman.core.progress import Silent
from dragoman.corpus.prepare import prepare
from tests.training.tiny_run import TinyRun, kill_all


def weights_of(model: Mapping[str, Tensor]) -> dict[str, list[float]]:
    return {name: tensor.flatten().tolist() for name, tensor in model.items() if name != "written_pieces"}


def best_of(run: TinyRun) -> dict[str, list[float]]:
    loaded = reading.best(run.directory / "checkpoints")
    assert loaded is not None
    return weights_of(loaded.model)


@pytest.fixture
def other_corpus(whole_run: TinyRun, tmp_path: Path) -> TinyRun:
    """A new run on half of the text, with the vocabulary of the whole run."""
    lines = (whole_run.recipe.parent / "phrases.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    text = tmp_path / "half.tsv"
    text.write_text("".join(lines[::2]), encoding="utf-8")
    vocabulary = whole_run.directory / "vocab.source.model"
    recipe = tmp_path / "half.toml"
    recipe.write_text(
        whole_run.recipe.read_text()
        .replace(str(whole_run.recipe.parent / "corpus"), str(tmp_path / "corpus"))
        .replace(str(whole_run.recipe.parent / "phrases.tsv"), str(text))
        .replace("size = 512", f'model = "{vocabulary}"')
    )
    prepare(config_file.load(recipe), mirror=None, progress=Silent())
    return TinyRun(recipe, tmp_path / "run")


@pytest.mark.parametrize("processes", [1, 2])
def test_it_begins_where_the_best_checkpoint_of_the_other_one_was(
    other_corpus: TinyRun, whole_run: TinyRun, processes: int
) -> None:
    done = other_corpus.train("training.keep_last=20", processes=processes, start_from=[whole_run.directory])
    assert done.returncode == 0, done.stderr
    assert weights_of(load_file(other_corpus.checkpoint(0) / "model.safetensors")) == best_of(whole_run)
    assert f"first weights from {whole_run.directory}, step 12" in done.stderr
    first, *_, last = other_corpus.evals()
    assert first.num_sentences == last.num_sentences == 40, "its BLEU at step 0 is worth as much as later ones"
    assert first.dev_loss and last.dev_loss and last.dev_loss < first.dev_loss < 5.9, "chance is ln 512 = 6.2"
    before, now = (load_file(run.checkpoint(12) / "model.safetensors") for run in (whole_run, other_corpus))
    assert set(now["written_pieces"].tolist()) < set(before["written_pieces"].tolist()), "those of its own corpus"
    state = json.loads((other_corpus.checkpoint(12) / "state.json").read_text())
    assert state["started_from"] == f"{whole_run.directory}, step 12"


def test_killed_and_started_again_it_ends_with_the_same_weights(
    tiny_run: TinyRun, whole_run: TinyRun, tmp_path: Path
) -> None:
    undisturbed = TinyRun(tiny_run.recipe, tmp_path / "undisturbed")
    assert undisturbed.train(start_from=[whole_run.directory]).returncode == 0
    process = tiny_run.start("training.save_every_steps=1", start_from=[whole_run.directory])
    tiny_run.wait_for(3)
    kill_all(process)
    process.wait()
    done = tiny_run.train("training.save_every_steps=1", start_from=[whole_run.directory])
    assert done.returncode == 0, done.stderr
    assert "has begun and goes on; --start-from is for new runs" in done.stderr
    assert [event.kind for event in tiny_run.events() if event.kind in ("started", "resumed")] == ["started", "resumed"]
    assert tiny_run.weights(12) == undisturbed.weights(12)


def test_of_several_runs_the_mean_is_taken(tiny_run: TinyRun, whole_run: TinyRun, whole_run_of_two: TinyRun) -> None:
    others = [whole_run, whole_run_of_two]
    done = tiny_run.train("training.max_steps=1", start_from=[one.directory for one in others])
    assert done.returncode == 0, done.stderr
    assert f"{whole_run.directory}, step 12 and {whole_run_of_two.directory}, step 12" in done.stderr
    first, second = map(best_of, others)
    for name, values in weights_of(load_file(tiny_run.checkpoint(0) / "model.safetensors")).items():
        expected = [(a + b) / 2 for a, b in zip(first[name], second[name], strict=True)]
        assert values == pytest.approx(expected, rel=1e-6, abs=1e-9), name


def test_another_model_is_refused_with_what_differs(tiny_run: TinyRun, whole_run: TinyRun) -> None:
    done = tiny_run.train("model.heads=4", "model.dropout=0.2", start_from=[whole_run.directory])
    assert done.returncode == 2
    assert "is another one: model.heads was 2, now 4; set [model]" in done.stderr
    assert f"set [model] as {whole_run.directory}/config.toml does" in done.stderr
    assert not tiny_run.directory.exists()


def test_another_vocabulary_is_refused_with_the_setting_that_mends_it(
    other_corpus: TinyRun, whole_run: TinyRun, tmp_path: Path
) -> None:
    own = TinyRun(other_corpus.recipe.with_name("own.toml"), tmp_path / "own")
    vocabulary = whole_run.directory / "vocab.source.model"
    own.recipe.write_text(
        other_corpus.recipe.read_text()
        .replace(f'model = "{vocabulary}"', "size = 400")
        .replace(str(tmp_path / "corpus"), str(tmp_path / "own-corpus"))
    )
    done = own.train(start_from=[whole_run.directory])
    assert done.returncode == 2
    assert f'set vocabulary.model = "{vocabulary}" in the recipe, and another corpus.directory' in done.stderr
    assert not own.directory.exists()


@pytest.mark.parametrize("has_config", [False, True])
def test_a_directory_without_weights_is_refused(
    tiny_run: TinyRun, whole_run: TinyRun, tmp_path: Path, *, has_config: bool
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in ("config.toml", "vocab.source.model", "vocab.target.model") if has_config else ():
        (empty / name).write_bytes((whole_run.directory / name).read_bytes())
    done = tiny_run.train(start_from=[empty])
    assert done.returncode == 2
    assert ("has no checkpoint yet" if has_config else "is not a run: no config.toml") in done.stderr
    assert "Traceback" not in done.stderr
    assert not tiny_run.directory.exists()
