"""From a run to a model that translates documents, as a person does it; and what is said when it cannot be done."""

import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from dragoman.cli.main import run_command
from dragoman.export.card import read_card
from tests.training.tiny_run import TinyRun, make_recipe


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    returncode: int
    stdout: bytes
    stderr: bytes


def dragoman(*words: object, stdin: bytes = b"") -> Done:
    """The command line in this process: the heavy libraries are loaded only once."""
    outputs = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(stream, encoding="utf-8") for stream in (io.BytesIO(stdin), *outputs)]
    before = sys.stdin, sys.stdout, sys.stderr
    try:
        sys.stdin, sys.stdout, sys.stderr = streams
        code = run_command([str(word) for word in words])
        for stream in streams[1:]:
            stream.flush()
        out, err = (output.getvalue() for output in outputs)
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    return Done(code, out, err)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    directory = tmp_path_factory.mktemp("exporting")
    run = TinyRun(make_recipe(directory), directory / "run")
    done = run.train("training.max_steps=4", "training.evaluate_every_steps=4")
    assert done.returncode == 0, done.stderr
    return run


@pytest.fixture(scope="module")
def model(run: TinyRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("exported") / "model"
    done = dragoman("export", run.directory, "--out", directory, "--quantization", "float32")
    assert done.returncode == 0, done.stderr.decode()
    assert f"{directory}: en → de, float32, " in done.stdout.decode()
    assert "weights to float32\nchecking: both engines translate 40 sentences of dev\n" in done.stderr.decode()
    return directory


def refusal(*words: object, stdin: bytes = b"") -> str:
    """The one sentence of a refusal: exit code 2, no traceback, nothing on standard output."""
    done = dragoman(*words, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, b""), done.stderr.decode()
    (line,) = done.stderr.decode().splitlines()
    return line


def test_a_run_becomes_a_model_with_its_card(model: Path) -> None:
    card = read_card(model)
    assert (card.source_language, card.target_language, card.quantization) == ("en", "de", "float32")
    assert card.check is not None and card.data is not None
    assert card.check.num_sentences == 40
    assert card.check.same_tokens >= 0.97
    assert card.check.bleu_signature.startswith("nrefs:1|")
    assert len(card.data.fingerprint) == 64
    assert {"dragoman", "ctranslate2", "sentencepiece", "torch"} == set(card.versions)
    sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=model, check=False)
    assert sums.returncode == 0
    names = {path.name for path in model.iterdir()}
    assert {"README.md", "model.json", "model.bin", "config.json", "vocab.source.model", "SHA256SUMS"} <= names


def test_the_mean_of_checkpoints_is_exported_over_an_older_model(run: TinyRun, tmp_path: Path) -> None:
    out = tmp_path / "model"
    assert dragoman("export", run.directory, "--out", out).returncode == 0
    done = dragoman("export", run.directory, "--out", out, "--average", 2, "--force")
    assert done.returncode == 0, done.stderr.decode()
    assert read_card(out).steps == (4, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_lines_keep_their_order_and_number(model: Path) -> None:
    lines = [
        b"Where is the station?",
        b"",
        b"\xff\xfe\x00garbage",
        b"Good morning! How are you?",
        b"last, without an end",
    ]
    done = dragoman("translate", model, stdin=b"\n".join(lines))
    assert done.returncode == 0, done.stderr.decode()
    out = done.stdout.decode().split("\n")
    assert len(out) == 6 and out[1] == "" and out[-1] == ""
    alone = dragoman("translate", model, stdin=lines[3]).stdout.decode()
    assert out[3] + "\n" == alone


def test_several_translations_with_scores(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Where is the station?\n")
    done = dragoman("translate", model, text, "--n-best", 3, "--json")
    (found,) = map(json.loads, done.stdout.decode().splitlines())
    assert len(found) == 3 and all(set(each) == {"text", "score"} for each in found)
    plain = dragoman("translate", model, text, "--n-best", 3).stdout.decode().splitlines()
    assert plain == [each["text"] for each in found]
    ways = dragoman("translate", model, text, "--alternatives", "").stdout.decode().splitlines()
    assert 1 < len(ways) <= 5


def test_of_several_translations_the_nearest_to_a_reference_is_kept(model: Path, run: TinyRun, tmp_path: Path) -> None:
    text, reference = tmp_path / "text.en", tmp_path / "text.de"
    text.write_text("Where is the station?\nGood morning!\n")
    for engine in (model, run.directory):
        candidates = dragoman("translate", engine, text, "--n-best", 3).stdout.decode().splitlines()
        wanted = [candidates[2], candidates[4]]
        reference.write_text("".join(f"{line}\n" for line in wanted))
        words = ("translate", engine, text, "--n-best", 3, "--nearest-to", reference)
        assert dragoman(*words).stdout.decode().splitlines() == wanted
        found = map(json.loads, dragoman(*words, "--json").stdout.decode().splitlines())
        assert [[each["text"] for each in line] for line in found] == [[line] for line in wanted]
    reference.write_text("Wo?\n")
    assert refusal(*words) == (
        f"dragoman: {text} has 2 lines, {reference} has 1; line N of one belongs to line N of the other"
    )
    assert refusal("translate", model, "--n-best", 3, "--nearest-to", reference, stdin=b"a") == (
        "dragoman: --nearest-to chooses among the translations of a file's lines; name FILE and --n-best 5"
    )


def test_documents_keep_their_structure(model: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(b"<p>Good <b>morning</b>!</p>\r\n<script>x</script><p>The 12345 books</p>")
    done = dragoman("translate", model, page)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b"<p>") and b"</p>\r\n<script>x</script><p>The 12345 books</p>" in done.stdout
    assert done.stdout.count(b"<b>") == done.stdout.count(b"</b>") == 1
    assert done.stderr.decode() == (
        f"{page}:2: left untranslated, it would lose a number or a placeholder: The 12345 books\n"
    )
    same = dragoman("translate", model, "--format", "srt", stdin=b"1\r\n00:00:01,000 --> 00:00:02,000\r\n17\r\n")
    assert same.stdout == b"1\r\n00:00:01,000 --> 00:00:02,000\r\n17\r\n"


def test_a_run_translates_documents_too(run: TinyRun, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Good morning\n\n```\ncode\n```\n")
    done = dragoman("translate", run.directory, tmp_path / "a.md")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().startswith("# ") and done.stdout.decode().endswith("\n\n```\ncode\n```\n")


def test_searching_can_be_changed_where_it_is_used(model: Path) -> None:
    done = dragoman("translate", model, "--set", "decoding.beam=1", stdin=b"Good morning!\n")
    assert done.returncode == 0, done.stderr.decode()
    assert refusal("translate", model, "--set", "model.width=1", stdin=b"a") == (
        "dragoman: --set model.width=1: only decoding settings can be changed here"
    )


def test_what_cannot_be_translated_is_said(model: Path, run: TinyRun, tmp_path: Path) -> None:
    assert refusal("translate", tmp_path / "none") == (
        f"dragoman: there is no model in {tmp_path / 'none'}: neither model.json nor config.toml;"
        " export one with `dragoman export RUN --out DIR`"
    )
    assert refusal("translate", model, tmp_path / "none.txt") == (
        f"dragoman: cannot read {tmp_path / 'none.txt'}: No such file or directory"
    )
    (tmp_path / "a.md").write_bytes(b"# fine\n\nbroken \xff\n")
    assert refusal("translate", model, tmp_path / "a.md") == (
        f"dragoman: {tmp_path / 'a.md'}:3: not UTF-8, so its structure cannot be kept; convert it to UTF-8"
    )
    assert refusal("translate", model, tmp_path / "a.md", "--json") == (
        "dragoman: --json, --n-best and --alternatives are for plain text; add --format text"
    )
    assert refusal("translate", run.directory, "--alternatives", "Wo", stdin=b"Where?\n") == (
        f"dragoman: a run gives no alternatives, an exported model does; `dragoman export {run.directory} --out DIR`"
    )
    broken = Path(shutil.copytree(model, tmp_path / "broken"))
    content = bytearray((broken / "model.bin").read_bytes())
    content[-100] ^= 1
    (broken / "model.bin").write_bytes(content)
    assert refusal("translate", broken, stdin=b"a") == (
        f"dragoman: {broken} is a broken export: model.bin is not as it was written;"
        " export it again with `dragoman export RUN --out DIR`"
    )


def test_what_cannot_be_exported_is_said_and_leaves_nothing(run: TinyRun, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert refusal("export", tmp_path / "none", "--out", out) == (
        f"dragoman: {tmp_path / 'none'} is not a run: no config.toml; train one with `dragoman train RECIPE.toml`"
    )
    assert refusal("export", run.directory, "--out", out, "--quantization", "int3").startswith(
        "dragoman: 'int3' is no quantization; take one of int8, "
    )
    assert refusal("export", run.directory, "--out", model) == (
        f"dragoman: {model} holds an exported model; replace it with --force"
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    assert refusal("export", run.directory, "--out", tmp_path / "full", "--force") == (
        f"dragoman: {tmp_path / 'full'} exists and is not an exported model; export to another place"
    )
    empty = Path(shutil.copytree(run.directory, tmp_path / "empty", ignore=shutil.ignore_patterns("step_*")))
    assert refusal("export", empty, "--out", out) == (
        f"dragoman: {empty} has no checkpoint yet; wait until training has written one"
    )
    assert not out.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "full"]


def test_a_corpus_that_is_gone_is_replaced_by_named_sentences(run: TinyRun, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(run.directory, tmp_path / "moved"))
    recipe = (moved / "config.toml").read_text()
    corpus = str(run.recipe.parent / "corpus")
    assert corpus in recipe
    (moved / "config.toml").write_text(recipe.replace(corpus, str(tmp_path / "gone")))
    said = refusal("export", moved, "--out", tmp_path / "out")
    assert said.startswith("dragoman: the export cannot be checked on dev: ")
    assert said.endswith("; name sentences with --source and --reference")
    (tmp_path / "a.en").write_text("Good morning!\nWhere is it?\n")
    (tmp_path / "a.de").write_text("Guten Morgen!\nWo ist es?\n")
    done = dragoman(
        "export", moved, "--out", tmp_path / "out", "--source", tmp_path / "a.en", "--reference", tmp_path / "a.de"
    )
    assert done.returncode == 0, done.stderr.decode()
    card = read_card(tmp_path / "out")
    assert card.data is None and card.check is not None
    assert (card.check.sentences, card.check.num_sentences) == ("a.en", 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_named(run: TinyRun, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    out = tmp_path / "locked" / "model"
    assert refusal("export", run.directory, "--out", out).startswith(f"dragoman: cannot write to {out}: ")
