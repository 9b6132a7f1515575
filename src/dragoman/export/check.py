"""The trained and the exported model side by side, before anyone relies on the export.

Takes both and sentences with references. Greedy search shows whether the networks are the same: there is one best
piece at a time and no search to differ in. The search that the model is used with shows what people will get.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dragoman.core.errors import UserError
from dragoman.decoding.score import Score, score
from dragoman.decoding.translate import Translator as Trained
from dragoman.export.card import Check, EngineScore
from dragoman.export.engine import Pieces
from dragoman.export.engine import Translator as Exported

LEAST_SAME_TOKENS = 0.995
"""Share of sentences that float32 weights must translate into the same pieces; rounding alone flips fewer."""
MOST_BLEU_LOST = 0.3
"""What any way to store weights may cost. Beam searches of two engines differ by as much with equal weights: on the
demo's model 0.30 at a beam of 2, with 100 % of greedy translations the same. So greedy search decides."""
MOST_SENTENCES = 1000


@dataclass(frozen=True)
class Sentences:
    """What the engines are compared on."""

    name: str
    sources: Sequence[str]
    references: Sequence[str]


def compare(trained: Trained, exported: Exported, sentences: Sentences, tokenizer: str) -> Check:
    """Translate with both. Sentences that the model would read in parts are left out, and not counted."""
    most = exported.card.max_source_pieces
    taken, references = [], []
    for text, reference in zip(sentences.sources[:MOST_SENTENCES], sentences.references, strict=False):
        pieces = exported.pieces(text)
        if 0 < len(pieces) <= most:
            taken.append(pieces)
            references.append(reference)
    if not taken:
        raise UserError(f"there is no sentence in {sentences.name} to check the export with", "name others: --source")
    config = exported.card.decoding
    greedy = replace(config, beam=1)
    plain = _same(trained, exported.with_decoding(greedy), taken)
    used = plain if config == greedy else _same(trained, exported, taken)

    def scores_of(*sides: Sequence[Pieces]) -> list[Score]:
        return [score([exported.text(pieces) for pieces in side], references, tokenizer) for side in sides]

    scores, greedy_scores = scores_of(*used[1:]), scores_of(*plain[1:])
    return Check(
        sentences=sentences.name,
        num_sentences=len(taken),
        same_tokens=plain[0],
        same_translations=used[0],
        trained=_summary(scores[0]),
        exported=_summary(scores[1]),
        bleu_signature=scores[0].bleu_signature,
        chrf_signature=scores[0].chrf_signature,
        bleu_lost=greedy_scores[0].bleu - greedy_scores[1].bleu,
    )


def refuse_if_different(check: Check, quantization: str) -> None:
    """UserError with the numbers where the exported model is not as good as the trained one."""
    if quantization == "float32" and check.same_tokens < LEAST_SAME_TOKENS:
        raise UserError(
            f"the exported model translates only {check.same_tokens:.1%} of {check.num_sentences:,} sentences of"
            f" {check.sentences} as the trained one does ({LEAST_SAME_TOKENS:.1%} are needed); nothing was written",
            "report this: the two engines should compute the same",
        )
    if check.bleu_lost > MOST_BLEU_LOST:
        raise UserError(
            f"in {quantization} the model loses {check.bleu_lost:.2f} BLEU by greedy search on"
            f" {check.num_sentences:,} sentences of {check.sentences} ({MOST_BLEU_LOST} are allowed);"
            " nothing was written",
            "try `--quantization float32`" if quantization != "float32" else None,
        )


def _same(trained: Trained, exported: Exported, sources: Sequence[Pieces]) -> tuple[float, list[Pieces], list[Pieces]]:
    """The share of equal translations, then those of both engines."""
    trained = Trained(
        trained.model,
        trained.source_vocabulary,
        trained.target_vocabulary,
        exported.card.decoding,
        max_source_pieces=trained.max_source_pieces,
    )
    eos = trained.source_vocabulary.special.eos
    ours = [list(found[0].tokens) if found else [] for found in trained.search([[*source, eos] for source in sources])]
    theirs = [found[0].pieces for found in exported.search(sources)]
    same = sum(our == their for our, their in zip(ours, theirs, strict=True))
    return same / len(sources), ours, theirs


def _summary(score: Score) -> EngineScore:
    return EngineScore(score.bleu, score.bleu_interval, score.chrf)
