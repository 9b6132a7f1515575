"""Marian 1.12.42 from pymarian: its own trainer and translator, from texts of our pieces' numbers.

It makes its batches itself: 4,096 words for an update, sorted over the whole corpus, shared by two threads, so that a
step has as many tokens as everyone else's. Its log is the only place where it counts what it has done.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from benchmarks import multi30k
from benchmarks.ground import CACHE
from benchmarks.peers.participant import BEAM, DROPOUT, LEARNING_RATE, NUM_STEPS, SIZES, SMOOTHING, task

PROGRESS = re.compile(rb"Cost .* after ([\d,]+)")
EOS, UNK = "</s>", "<unk>"


def main() -> None:
    """Train for ever."""
    todo = task()
    reader, writer = os.pipe()
    if os.fork() == 0:
        # It is this process that is stopped and measured, and it holds the interpreter: a child follows its log.
        os.close(writer)
        with os.fdopen(reader, "rb") as log:
            for line in log:
                sys.stderr.buffer.write(line)
                if (found := PROGRESS.search(line)) is not None:
                    todo.reached(int(found[1].replace(b",", b"")))
        return
    os.dup2(writer, sys.stderr.fileno())
    trainer(todo.preset, CACHE / f"marian-{todo.preset}-endless.npz", "--after 0e --disp-freq 1 --no-reload")


def trainer(preset: str, model: Path, until: str) -> None:
    """Train with its own command line; the weights go to `model`."""
    from pymarian import Trainer

    width, inner, heads, layers = SIZES[preset]
    source, target, vocabulary = texts()
    Trainer(
        f"--type transformer --model {model} --train-sets {source} {target} --vocabs {vocabulary} {vocabulary}"
        f" --dim-emb {width} --transformer-dim-ffn {inner} --transformer-heads {heads}"
        f" --enc-depth {layers} --dec-depth {layers} --tied-embeddings-all --transformer-dropout {DROPOUT}"
        " --transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n"
        f" --label-smoothing {SMOOTHING} --learn-rate {LEARNING_RATE} --optimizer-params 0.9 0.98 1e-9"
        f" --mini-batch-words {multi30k.TOKENS_PER_BATCH} --maxi-batch 1000 --maxi-batch-sort trg --max-length 200"
        f" --cpu-threads 2 --sync-sgd --workspace 512 --no-restore-corpus --overwrite --save-freq 1000000u {until}"
    ).train()


def decoder(preset: str, threads: int, kind: str = "float32") -> Callable[[list[list[int]]], object]:
    """Its translator with weights after one update, none of whose translations end before the longest length."""
    from pymarian import Translator

    *_, vocabulary = texts()
    translator = Translator(
        f"--models {model(preset, kind)} --vocabs {vocabulary} {vocabulary} --cpu-threads {threads} --beam-size {BEAM}"
        f" --normalize 1 --mini-batch 64 --maxi-batch 100 --maxi-batch-sort src --max-length-factor 1 --quiet"
    )

    def decode(sentences: list[list[int]]) -> object:
        assert all(len(sentence) == NUM_STEPS for sentence in sentences), "its longest length is that of the source"
        return translator.translate("\n".join(words(sentence[:-1]) for sentence in sentences))

    return decode


def model(preset: str, kind: str) -> Path:
    """The file of the translator's weights, made if it is not there; int8 packed by its own converter."""
    import _pymarian

    file = CACHE / f"marian-{preset}.npz"
    if not file.exists():
        first = CACHE / f"marian-{preset}-first.npz"
        trainer(preset, first, "--after 1u --quiet")
        arrays = dict(np.load(first))
        arrays["decoder_ff_logit_out_b"][0, 0] = -1e4  # eos, which is never the best way on
        with file.with_suffix(".partial").open("wb") as partial:
            np.savez(partial, allow_pickle=False, **arrays)
        file.with_suffix(".partial").rename(file)
    if kind == "float32":
        return file
    packed = file.with_suffix(".int8.bin")
    if not packed.exists():
        _pymarian.main(["convert", "--from", str(file), "--to", str(packed), "--gemm-type", "intgemm8avx512"])
    return packed


def texts() -> tuple[Path, Path, Path]:
    """The corpus as numbers between spaces, source and target, and the vocabulary of these words."""
    files = CACHE / "marian.en", CACHE / "marian.de", CACHE / "marian.yml"
    if not all(file.exists() for file in files):
        pairs = multi30k.load().pairs
        for side, file in enumerate(files[:2]):
            file.write_text("".join(f"{words(pair[side][:-1])}\n" for pair in pairs))
        names = [EOS, UNK, *(f"p{number}" for number in range(2, multi30k.NUM_PIECES))]
        files[2].write_text("".join(f'"{name}": {number}\n' for number, name in enumerate(names)))
    return files


def words(ids: Iterable[int]) -> str:
    """Pieces as words of Marian's vocabulary, whose first two are eos and unk; ours are not used in texts below 3."""
    return " ".join(f"p{number}" for number in ids)


if __name__ == "__main__":
    main()
