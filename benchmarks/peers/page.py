"""Results as Markdown: a table for each column, with a sentence that says where ours stands."""

import math
from collections.abc import Sequence
from statistics import median

from benchmarks.peers import fairseq
from benchmarks.peers.results import Column, Results, Row
from benchmarks.peers.roster import HALF_PEERS, PEERS

NAMES = {
    **{key: peer.name for key, peer in PEERS.items()},
    "dragoman": "**Dragoman**",
    "dragoman-int8": "**Dragoman**, int8",
    "dragoman-bf16": "**Dragoman**, bfloat16",
    **{f"{key}-bf16": f"{PEERS[key].name}, autocast" for key in HALF_PEERS},
    "dragoman-torch": "Dragoman's search while training",
    "ctranslate2": "CTranslate2 by hand",
    "ctranslate2-int8": "CTranslate2 by hand, int8",
    "marian-int8": "Marian, int8",
    "sentencepiece": "SentencePiece, encoding only",
    "opennmt-vocabulary": "OpenNMT-py, counting words only",
    "eole-vocabulary": "Eole, counting words only",
    fairseq.KEY: "fairseq, converted",
}
PARTS = {"sentencepiece", "opennmt-vocabulary", "eole-vocabulary"}
"""Those who do only a part of the work; they are listed, and not called peers."""
TITLES = {
    "training-small": "Training `small`",
    "training-base": "Training `base`",
    "training-small-bf16": "Training `small`, bfloat16",
    "training-base-bf16": "Training `base`, bfloat16",
    "decoding-float32": "Decoding, float32",
    "decoding-int8": "Decoding, int8",
    "preparation": "Preparation",
}


def name_of(key: str) -> str:
    return NAMES.get(key, key)


def page(results: Results) -> str:
    """The chart and all columns, in the order of their titles."""
    columns = [results.columns[name] for name in TITLES if name in results.columns]
    picture = "![Speed and memory of Dragoman and its peers](images/peers.svg)"
    return "\n\n".join([picture, *(section(column) for column in columns)])


def section(column: Column) -> str:
    """One column."""
    lines = [f"### {TITLES[column.name]}: {column.unit}", "", standing(column), "", *table(column)]
    lines += [f"- {name_of(key)} could not take part: {reason}" for key, reason in column.failed.items()]
    return "\n".join([*lines, "", f"`{column.command}`, {column.measured_at}, on {column.machine}."])


def summary(results: Results) -> str:
    """A line a column: ours beside the best of the same run, fairseq by conversion among them."""
    lines = [
        "| | best of the others | ours is × it | peak memory, ours | least of the others |",
        "|---|---|--:|--:|--:|",
    ]
    for column in (results.columns[name] for name in TITLES if name in results.columns):
        others = [row for row in column.peers if row.key not in PARTS]
        if others:
            best = min(others, key=lambda row: row.times)
            least = min(others, key=lambda row: row.peak_mb or math.inf)
            memory = memory_of(column.ours), memory_of(least)
            cells = [TITLES[column.name], name_of(best.key), spread(best.ratios, 2), *memory]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def standing(column: Column) -> str:
    """Where ours stands, in a sentence."""
    rivals = [row for row in column.peers if not row.is_converted and row.key not in PARTS]
    if not rivals:
        return "Nobody else took part."
    best = rivals[0]
    rounds = len(column.ours.rates)
    sentence = f"Ours is {spread(best.ratios, 2)} times as fast as the best peer, {name_of(best.key)}"
    memory = [row for row in rivals if row.peak_mb is not None]
    own_mb = column.ours.peak_mb
    if memory and own_mb is not None:
        least = min(memory, key=lambda row: row.peak_mb or 0.0)
        sentence += f"; at most it holds {own_mb:,.0f} MB, of the others {name_of(least.key)} least: {memory_of(least)}"
    return f"{sentence}. Median (least to most) of {rounds} rounds."


def table(column: Column) -> list[str]:
    """Markdown lines, the fastest first."""
    has_shares = bool(column.ours.shares)
    heads = ["", column.unit, "ours is × it", *(["of matrix-multiply peak"] if has_shares else []), "peak memory"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in sorted(column.rows, key=lambda row: row.times):
        cells = [name_of(row.key), spread(row.rates, 0), "" if row is column.ours else spread(row.ratios, 2)]
        if has_shares:
            cells.append(f"{median(row.shares):.0%} ({min(row.shares):.0%}–{max(row.shares):.0%})")
        lines.append(f"| {' | '.join([*cells, memory_of(row)])} |")
    return lines


def memory_of(row: Row) -> str:
    return "unknown" if row.peak_mb is None else f"{row.peak_mb:,.0f} MB"


def spread(values: Sequence[float], digits: int) -> str:
    """Median, least and most."""
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"
