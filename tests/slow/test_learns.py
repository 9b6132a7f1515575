"""It learns: run with `make slow`."""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.core import records
from dragoman.core.run_records import EvalRecord

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

COPYING = """
[corpus]
directory = "{directory}/corpus"
[[corpus.texts]]
source = "{directory}/digits.tsv"
[held_out]
dev_pairs = 200
test_pairs = 200
[cleaning]
switched_off = ["identical_sides", "few_letters", "duplicate", "overlap"]
[vocabulary]
size = 64
byte_fallback = false
[model]
preset = "tiny"
dropout = 0.0
label_smoothing = 0.0
[batching]
tokens_per_step = 2048
[schedule]
kind = "inverse_sqrt"
peak = 2e-3
warmup_steps = 200
[training]
max_steps = 1500
evaluate_every_steps = 500
seed = {seed}
"""


def dragoman(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dragoman.cli.main", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_learns_to_copy_digits(tmp_path: Path) -> None:
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    chance = random.Random(seed)
    lines = [" ".join(str(chance.randrange(100)) for _ in range(chance.randint(1, 10))) for _ in range(20_000)]
    (tmp_path / "digits.tsv").write_text("".join(f"{line}\t{line}\n" for line in lines))
    recipe = tmp_path / "copy.toml"
    recipe.write_text(COPYING.format(directory=tmp_path, seed=seed))
    dragoman("train", str(recipe), "--run", str(tmp_path / "run"))
    last = list(records.read_lines(tmp_path / "run" / "evals.jsonl", EvalRecord))[-1]
    assert last.dev_loss is not None and math.exp(last.dev_loss) <= 1.05
    assert last.bleu >= 95


def test_it_learns_the_phrasebook_within_the_time_of_the_demo(tmp_path: Path) -> None:
    dragoman("demo", "--out", str(tmp_path))
    score = json.loads(dragoman("evaluate", str(tmp_path / "run"), "--json"))
    print(score["bleu"])
    assert score["bleu"] >= 90
