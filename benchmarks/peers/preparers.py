"""Participants of the preparation benchmark: `python -m benchmarks.peers.preparers NAME STEM MODEL OUT`.

Each prepares `STEM.en` and `STEM.de` with the subwords of MODEL and writes to OUT/seconds how long it took, its own
imports left out. Ours begins with raw text; Sockeye, OpenNMT-py and Eole are given text that is already split.
"""

import json
import sys
from pathlib import Path

from benchmarks.watched import Clock


def dragoman(stem: str, model: str, out: Path, clock: Clock) -> None:
    """Ours: reads raw text, cleans it by all rules, drops duplicates, shuffles, splits, encodes and writes."""
    from dragoman.core import config_file
    from dragoman.core.progress import Silent
    from dragoman.corpus.prepare import prepare

    text = f'corpus.texts=[{{source="{stem}.en", target="{stem}.de"}}]'
    config = config_file.load(None, [text, f"vocabulary.model={model}", f"corpus.directory={out}/corpus"])
    with clock.running():
        prepare(config, mirror=None, progress=Silent())


def sentencepiece(stem: str, model: str, out: Path, clock: Clock) -> None:
    """SentencePiece's own `encode` with 2 threads, which only splits; nothing is written."""
    import sentencepiece as library

    processor = library.SentencePieceProcessor(model_file=model)
    for language in ("en", "de"):
        lines = Path(f"{stem}.{language}").read_text(encoding="utf-8").split("\n")[:-1]
        with clock.running():
            for first in range(0, len(lines), 100_000):
                processor.encode(lines[first : first + 100_000], num_threads=2)


def sockeye(stem: str, model: str, out: Path, clock: Clock) -> None:
    """Sockeye's prepare-data with 2 processes."""
    from sockeye import prepare_data

    files = ["--source", f"{stem}.pieces.en", "--target", f"{stem}.pieces.de", "--output", f"{out}/prepared"]
    shape = ["--shared-vocab", "--max-processes", "2", "--max-seq-len", "255:255", "--quiet"]
    sys.argv = ["sockeye-prepare-data", *files, *shape]
    with clock.running():
        prepare_data.main()


def opennmt(stem: str, model: str, out: Path, clock: Clock) -> None:
    """OpenNMT-py's vocabulary, with 2 processes: all that it prepares before training."""
    from benchmarks.peers.opennmt import pretend_tokenisers

    pretend_tokenisers()
    from onmt.bin import build_vocab

    config = settings(stem, out, save_data=f"{out}/vocabulary")
    sys.argv = ["onmt_build_vocab", "-config", str(config), "-n_sample", "-1"]
    with clock.running():
        build_vocab.main()


def eole(stem: str, model: str, out: Path, clock: Clock) -> None:
    """Eole's vocabulary, with 2 processes: all that it prepares before training."""
    from eole.bin.main import main as command

    sys.argv = ["eole", "build_vocab", "-config", str(settings(stem, out, n_sample=-1))]
    with clock.running():
        command()


def settings(stem: str, out: Path, **more: object) -> Path:
    """The recipe of a vocabulary in the words that OpenNMT-py and Eole share; JSON is YAML."""
    corpus = {"path_src": f"{stem}.pieces.en", "path_tgt": f"{stem}.pieces.de"}
    vocabulary = {"src_vocab": f"{out}/words", "tgt_vocab": f"{out}/words", "share_vocab": True}
    config = out / "config.yaml"
    config.write_text(json.dumps({"data": {"text": corpus}, **vocabulary, "num_threads": 2, **more}))
    return config


PREPARERS = {each.__name__: each for each in (dragoman, sentencepiece, sockeye, opennmt, eole)}


def main() -> None:
    """Prepare once."""
    name, stem, model, out = sys.argv[1:]
    clock = Clock()
    PREPARERS[name](stem, model, Path(out), clock)
    (Path(out) / "seconds").write_text(json.dumps([clock.seconds, clock.busy_s]))


if __name__ == "__main__":
    main()
