"""fairseq, which cannot be installed by name: its speed by way of those that can.

Its package does not build, and its sources need an older hydra-core and omegaconf, numpy below 2 and a patch for Python
3.11. It was measured once from patched sources (0.12.2, git of 2025-09), on this kind of machine, in turns with the
other peers. What it would do here is what each of them does here times how it stood to that one there; the median over
all of them counts.
"""

import statistics
from collections.abc import Mapping, Sequence

KEY = "fairseq"
RATIOS = {
    "training-small": {
        "huggingface": 1440 / 1363,
        "opennmt": 1440 / 1292,
        "eole": 1440 / 1261,
        "sockeye": 1440 / 1209,
        "marian": 1440 / 1182,
        "joeynmt": 1440 / 453,
    },
    "training-base": {"opennmt": 273 / 239},
    "preparation": {"sockeye": 2150 / 7400},
}
"""How many times as fast as each peer fairseq was there; of fairseq-preprocess against prepare-data: pairs/s."""


def converted(column: str, rates: Mapping[str, Sequence[float]]) -> tuple[float, ...]:
    """What fairseq would have done in each round; empty where nobody took part by whom it could be told."""
    known = [[rate * ratio for rate in rates[key]] for key, ratio in RATIOS.get(column, {}).items() if key in rates]
    return tuple(statistics.median(estimates) for estimates in zip(*known, strict=True))
