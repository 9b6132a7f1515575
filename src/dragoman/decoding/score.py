"""BLEU and chrF, by sacreBLEU, the same way everywhere.

Takes hypotheses and references as detokenised text. `statistics` counts n-grams, one row of whole numbers a sentence;
`score_from` turns rows into scores with bootstrap intervals. Rows may come from any number of processes: put together
in the order of the sentences they give exactly the numbers of one process. Knows no model and no files.
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from dragoman.core.errors import UserError

Rows = npt.NDArray[np.int64]
"""(sentences, NUM_BLEU + NUM_CHRF) counts."""
Floats = npt.NDArray[np.float64]

NUM_BLEU = 2 + 2 * 4
"""Lengths of hypothesis and reference, matching and all n-grams of each order."""
NUM_CHRF = 3 * 6
"""Of each order: character n-grams of hypothesis and reference, and matching ones."""
TOKENIZERS = ("13a", "none", "intl", "char", "zh", "ja-mecab", "ko-mecab")
"""Those of sacreBLEU that need no download; the last two need a package."""
RESAMPLES, SEED = 1000, 12345
"""Those of sacreBLEU, so that intervals are the ones its command line prints."""
Metric = TypeVar("Metric", BLEU, CHRF)
_NEEDED = {"ja-mecab": ("MeCab", "sacrebleu[ja]"), "ko-mecab": ("mecab_ko", "sacrebleu[ko]")}


@dataclass(frozen=True)
class Score:
    """How good translations are, from 0 to 100, with 95 % intervals and what it takes to compute the same again."""

    bleu: float
    bleu_interval: tuple[float, float]
    chrf: float
    chrf_interval: tuple[float, float]
    bleu_signature: str
    chrf_signature: str
    length_ratio: float
    """Tokens of the hypotheses, for one of the references."""
    num_sentences: int

    def __str__(self) -> str:
        low, high = self.bleu_interval
        chrf_low, chrf_high = self.chrf_interval
        return (
            f"BLEU {self.bleu:.2f} ({low:.2f}–{high:.2f}), chrF {self.chrf:.2f} ({chrf_low:.2f}–{chrf_high:.2f})"
            f" on {self.num_sentences:,} sentences"
        )


@dataclass(frozen=True)
class Difference:
    """One system's score minus another's on the same sentences."""

    points: float
    interval: tuple[float, float]
    """95 % of resamples."""
    p_value: float
    """How often chance alone makes so large a difference: sacreBLEU's paired bootstrap."""


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same sentences."""

    bleu: Difference
    chrf: Difference


def tokenizer_for(language: str) -> str:
    """What sacreBLEU takes for a target language; single characters where the package that it needs is not here."""
    wanted = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}.get(
        language.lower().replace("_", "-").split("-")[0], "13a"
    )
    return wanted if _is_installed(wanted) else "char"


def statistics(hypotheses: Sequence[str], references: Sequence[str], tokenizer: str = "13a") -> Rows:
    """Counts of every sentence; no sentences give no rows."""
    if len(hypotheses) != len(references):
        raise UserError(f"there are {len(hypotheses):,} translations but {len(references):,} references")
    if not hypotheses:
        return np.zeros((0, NUM_BLEU + NUM_CHRF), dtype=np.int64)
    bleu_rows = _bleu(tokenizer)._extract_corpus_statistics(hypotheses, [references])
    chrf_rows = _chrf()._extract_corpus_statistics(hypotheses, [references])
    return np.hstack((np.array(bleu_rows, dtype=np.int64), np.array(chrf_rows, dtype=np.int64)))


def score_from(rows: Rows, tokenizer: str = "13a") -> Score:
    """The score of the corpus whose sentences have these counts."""
    if not len(rows):
        raise UserError("there is nothing to score: no translations")
    total = rows.sum(axis=0)
    (bleu, bleu_samples), (chrf, chrf_samples) = _scores(total, _resampled(rows), tokenizer)
    return Score(
        bleu=bleu,
        bleu_interval=_interval(bleu_samples),
        chrf=chrf,
        chrf_interval=_interval(chrf_samples),
        bleu_signature=str(_bleu(tokenizer).get_signature()),
        chrf_signature=str(_chrf().get_signature()),
        length_ratio=float(total[0] / total[1]) if total[1] else 0.0,
        num_sentences=len(rows),
    )


def score(hypotheses: Sequence[str], references: Sequence[str], tokenizer: str = "13a") -> Score:
    """BLEU and chrF of translations against one reference each."""
    return score_from(statistics(hypotheses, references, tokenizer), tokenizer)


def nearest(candidates: Sequence[str], reference: str, tokenizer: str = "13a") -> int:
    """The place of the translation of one sentence that has the highest BLEU of its own; of equals the first."""
    bleu = _bleu(tokenizer, of_one_sentence=True)
    scores = [bleu.sentence_score(candidate, [reference]).score for candidate in candidates]
    return scores.index(max(scores))


def compare(rows: Rows, baseline_rows: Rows, tokenizer: str = "13a") -> Comparison:
    """A system against a baseline by paired bootstrap; both translated the same sentences, in the same order."""
    if len(rows) != len(baseline_rows) or not len(rows):
        raise UserError(f"cannot compare {len(rows):,} translations with {len(baseline_rows):,} of the same text")
    both = np.hstack((rows, baseline_rows))
    totals, samples = np.hsplit(both.sum(axis=0), 2), np.hsplit(_resampled(both), 2)  # the same sentences for both
    ours, theirs = (_scores(*each, tokenizer) for each in zip(totals, samples, strict=True))
    return Comparison(*(_difference(*our, *their) for our, their in zip(ours, theirs, strict=True)))


def _difference(ours: float, our_samples: Floats, theirs: float, their_samples: Floats) -> Difference:
    spread = np.abs(our_samples - their_samples)
    num_larger = int((spread - spread.mean() > abs(ours - theirs)).sum())
    p_value = (num_larger + 1) / (len(spread) + 1)
    return Difference(ours - theirs, _interval(our_samples - their_samples), p_value)


def _scores(total: Rows, samples: Rows, tokenizer: str) -> list[tuple[float, Floats]]:
    """BLEU, then chrF: that of all sentences, and those of the resamples."""
    scores = []
    for metric, columns in ((_bleu(tokenizer), slice(0, NUM_BLEU)), (_chrf(), slice(NUM_BLEU, None))):
        sums = (total[columns].tolist(), *samples[:, columns].tolist())
        whole, *resampled = (float(metric._compute_score_from_stats(each).score) for each in sums)
        scores.append((whole, np.array(resampled)))
    return scores


def _resampled(rows: Rows) -> Rows:
    """(RESAMPLES, columns): sums over as many sentences as there are, drawn with replacement."""
    random, num_sentences = np.random.default_rng(SEED), len(rows)
    # Whole numbers below 2^53 are exact in double precision, whose multiplication is the fast one.
    columns = rows.astype(np.float64)
    samples = np.empty((RESAMPLES, rows.shape[1]), dtype=np.int64)
    for number in range(RESAMPLES):
        draws = random.choice(num_sentences, size=num_sentences, replace=True)
        samples[number] = np.bincount(draws, minlength=num_sentences) @ columns
    return samples


def _interval(samples: Floats) -> tuple[float, float]:
    """The middle 95 %."""
    ordered = np.sort(samples)
    outside = len(ordered) // 40
    return float(ordered[outside]), float(ordered[-1 - outside])


@cache
def _bleu(tokenizer: str, *, of_one_sentence: bool = False) -> BLEU:
    if tokenizer not in TOKENIZERS:
        raise UserError(f"{tokenizer!r} is no tokenizer for BLEU", f"take one of {', '.join(TOKENIZERS)}")
    if not _is_installed(tokenizer):
        raise UserError(f"the tokenizer {tokenizer} is not installed", f"pip install '{_NEEDED[tokenizer][1]}'")
    # A sentence may be too short to have n-grams of every order.
    return _described(BLEU(tokenize=tokenizer, force=tokenizer == "none", effective_order=of_one_sentence))


@cache
def _chrf() -> CHRF:
    return _described(CHRF())


def _described(metric: Metric) -> Metric:
    """What sacreBLEU notes for the signature while it scores by itself."""
    metric.num_refs, metric.n_bootstrap, metric.seed = 1, RESAMPLES, str(SEED)
    return metric


def _is_installed(tokenizer: str) -> bool:
    return tokenizer not in _NEEDED or importlib.util.find_spec(_NEEDED[tokenizer][0]) is not None
