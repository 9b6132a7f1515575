"""Who takes part: names, versions, what their environments need, and what of each is its own.

fairseq is not here: it cannot be installed by name (`benchmarks/peers/fairseq.py`).
"""

import subprocess
import sys
from dataclasses import dataclass

from benchmarks.ground import environment


@dataclass(frozen=True)
class Peer:
    """One system."""

    name: str
    """As people write it."""
    version: str
    packages: tuple[tuple[str, ...], ...] = ()
    """What pip is told, call by call; nothing for what runs in our own environment."""
    own: str = ""
    """What of it runs when its training is measured."""
    needed: str = ""
    """What its environment needs beside its name."""

    def python(self, key: str) -> str:
        """The interpreter that has the peer's libraries."""
        return str(environment(key, self.packages)) if self.packages else sys.executable


DRAGOMAN = "dragoman"
PEERS = {
    DRAGOMAN: Peer("Dragoman", "this clone", own="its training step: model, loss and fused AdamW"),
    "huggingface": Peer(
        "Hugging Face Marian",
        "transformers 5.22.0",
        (("transformers==5.22.0",),),
        own="its MarianMTModel; the loop is ours: sdpa attention, torch's cross-entropy and AdamW",
        needed="nothing",
    ),
    "opennmt": Peer(
        "OpenNMT-py",
        "3.5.1",
        (("--no-deps", "OpenNMT-py==3.5.1"), ("configargparse", "pyyaml", "tensorboard")),
        own="its encoder, decoder, embeddings, generator and LossCompute; the loop is ours, with torch's Adam",
        needed="no dependencies, for it pins torch below 2.3; empty modules for spacy, fasttext and other tokenisers",
    ),
    "eole": Peer(
        "Eole",
        "0.6.4",
        (("eole==0.6.4", "aiohttp"),),
        own="its EncoderDecoderModel, LossCompute and Optimizer; the loop is ours",
        needed="aiohttp",
    ),
    "sockeye": Peer(
        "Sockeye",
        "3.1.34",
        (("numpy<2", "pyyaml", "tqdm", "sacrebleu", "portalocker"), ("--no-deps", "sockeye==3.1.34")),
        own="its SockeyeModel, traced as its trainer does it, its loss, batches and optimizer; the loop is ours",
        needed="no dependencies, for it pins torch below 1.14; numpy below 2",
    ),
    "joeynmt": Peer(
        "JoeyNMT",
        "2.3.0",
        (("joeynmt==2.3.0", "importlib_metadata", "sentencepiece==0.2.0"),),
        own="its model with the loss inside it, and its batches; the loop is ours, with torch's Adam",
        needed="importlib_metadata, sentencepiece 0.2.0",
    ),
    "marian": Peer(
        "Marian",
        "pymarian 1.12.42",
        (("pymarian==1.12.42",),),
        own="all of it: its trainer makes batches, steps and counts by itself",
        needed="nothing",
    ),
}


HALF_PEERS = ("huggingface", "opennmt", "eole", "joeynmt")
"""Those whose training runs under torch's autocast on a CPU."""


def python_of(key: str) -> str:
    """The interpreter of a peer; ours for everyone else."""
    return PEERS[key].python(key) if key in PEERS else sys.executable


def install_all() -> dict[str, str]:
    """Install every peer by name; those that could not be installed, and why."""
    failed = {}
    for key in PEERS:
        try:
            python_of(key)
        except OSError as error:
            failed[key] = f"it could not be installed: {error}"
        except subprocess.CalledProcessError as error:
            said = (error.stderr or b"").decode(errors="replace").strip().splitlines() or [str(error)]
            failed[key] = f"it could not be installed: {said[-1]}"
    return failed
