"""What a run does and says, through the command line."""

import json
from pathlib import Path

import pytest

from dragoman.core import config_file
from tests.training.tiny_run import TinyRun


def test_an_untrained_model_scores_below_one_bleu(whole_run: TinyRun) -> None:
    first = whole_run.evals()[0]
    assert first.step == 0
    assert first.bleu < 1
    assert first.bleu_signature.startswith("nrefs:1|")


def test_evaluations_come_when_they_are_due(whole_run: TinyRun) -> None:
    assert [record.step for record in whole_run.evals()] == [0, 6, 12]
    first, last = whole_run.evals()[0].dev_loss, whole_run.evals()[-1].dev_loss
    assert first and last and last < first
    assert (whole_run.directory / "samples" / "step_0000012.txt").read_text().count("translation") == 8


def test_before_the_first_step_few_sentences_are_translated(whole_run: TinyRun, whole_run_of_two: TinyRun) -> None:
    assert [record.num_sentences for record in whole_run.evals()] == [32, 40, 40]
    assert whole_run_of_two.evals()[0].num_sentences == 32


def test_all_ranks_measure_the_same(whole_run: TinyRun, whole_run_of_two: TinyRun) -> None:
    one, two = whole_run.evals()[0], whole_run_of_two.evals()[0]
    assert two.dev_loss == pytest.approx(one.dev_loss, rel=1e-6)
    assert two.bleu == pytest.approx(one.bleu)


def test_the_learning_rate_follows_the_schedule(whole_run: TinyRun) -> None:
    rates = [record.learning_rate for record in whole_run.steps().values()]
    peak = 2.0 * 16**-0.5 * 10**-0.5
    assert rates[0] == pytest.approx(peak / 10)
    assert rates[9] == pytest.approx(peak)
    assert rates[11] == pytest.approx(peak * (10 / 12) ** 0.5)


def test_the_last_and_the_best_checkpoints_are_kept(whole_run: TinyRun) -> None:
    kept = sorted(path.name for path in whole_run.directory.glob("checkpoints/step_*"))
    assert kept[-3:] == ["step_0000008", "step_0000010", "step_0000012"]
    state = json.loads((whole_run.checkpoint(12) / "state.json").read_text())
    assert state["state"]["step"] == 12
    assert (whole_run.directory / "checkpoints" / "latest").read_text() == "step_0000012\n"


def test_rerunning_a_finished_run_changes_nothing(whole_run: TinyRun) -> None:
    before = whole_run.weights(12)
    assert whole_run.train().returncode == 0
    assert whole_run.weights(12) == before


def test_a_run_keeps_the_optimizer_that_was_chosen_for_it(whole_run: TinyRun) -> None:
    assert config_file.load(whole_run.directory / "config.toml").optimizer.kind == "muon"
    assert whole_run.train("optimizer.kind=muon").returncode == 0


def test_another_recipe_is_refused_with_what_differs(whole_run: TinyRun) -> None:
    done = whole_run.train("model.width=32")
    assert done.returncode == 2
    assert "model.width was 16, now 32" in done.stderr


def test_more_processes_than_cores_are_refused(tiny_run: TinyRun) -> None:
    done = tiny_run.train(processes=10_000)
    assert done.returncode == 2
    assert "--processes 10000 is more than the" in done.stderr
    assert not tiny_run.directory.exists()


def test_heads_that_do_not_divide_the_width_are_refused(tiny_run: TinyRun) -> None:
    done = tiny_run.train("model.heads=3")
    assert done.returncode == 2
    assert "model.heads = 3 does not divide model.width = 16" in done.stderr
    assert not tiny_run.directory.exists()


def test_a_directory_that_is_no_run_is_left_alone(tiny_run: TinyRun) -> None:
    tiny_run.directory.mkdir()
    (tiny_run.directory / "letter.txt").write_text("dear")
    done = tiny_run.train()
    assert done.returncode == 2
    assert "holds files but no run" in done.stderr
    assert [path.name for path in tiny_run.directory.iterdir()] == ["letter.txt"]


def test_a_missing_corpus_names_the_command_that_makes_it(tiny_run: TinyRun, tmp_path: Path) -> None:
    done = tiny_run.train("corpus.texts=[]", f"corpus.directory='{tmp_path / 'nowhere'}'")
    assert done.returncode == 2
    assert "run `dragoman prepare`" in done.stderr


def test_a_run_that_diverges_says_so_after_rolling_back(tiny_run: TinyRun) -> None:
    done = tiny_run.train("schedule.factor=1e30", "optimizer.clip_norm=0.0", "training.max_steps=100")
    assert done.returncode == 2, done.stderr
    assert "training diverges" in done.stderr
    assert [event.kind for event in tiny_run.events()].count("rolled back") == 3


def test_a_run_stops_when_its_money_is_spent(tiny_run: TinyRun) -> None:
    done = tiny_run.train("training.max_cost=0.001", "training.price_per_hour=10.0", "training.max_steps=0")
    assert done.returncode == 0
    assert "0.001 is spent" in done.stderr


def test_a_trained_model_translates_and_is_scored(whole_run: TinyRun) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "dragoman.cli.main"]
    run = str(whole_run.directory)
    text = "Where is the train station?\n\nGood morning.\n"
    done = subprocess.run([*command, "translate", run], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split("\n")) == 4
    assert done.stdout.split("\n")[1] == ""
    scored = subprocess.run([*command, "evaluate", run, "--json"], capture_output=True, text=True, check=False)
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["num_sentences"] == 40
