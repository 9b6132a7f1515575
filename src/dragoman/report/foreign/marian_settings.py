"""The settings that Marian prints at its start, one `[config] name: value` a line, lists on lines of their own."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dragoman.core.config import ModelConfig, ScheduleConfig
from dragoman.report.foreign.text import positive
from dragoman.report.foreign.transcript import Point, Settings
from dragoman.theory import cost

CONFIG = re.compile(r"\] \[config\] (?:(?P<name>[\w-]+):\s*(?P<value>.*)|\s*- (?P<item>.*))$")
DEVICES = re.compile(r"\[training\] Using (\d+) GPUs")
VOCABULARY = re.compile(r"\[data\] Setting vocabulary size for input (\d+) to ([\d,]+)")
PROCESSES = re.compile(r"\[mpi\] Initialized as process \d+ out of (\d+)|MPI rank \d+ (?:out )?of (\d+)")
RUNNING_ON = re.compile(r"\[marian\] Running on (\S+) as process")
BASIS = "computed from the sizes that the log prints, without the biases of attention and output"
UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def find(lines: Iterable[str]) -> tuple[Settings, str | None]:
    """The settings, and the type of the training cost."""
    lines = list(lines)
    config = _config(lines)
    text = "\n".join(line for line in lines if "[config]" not in line and " : Up. " not in line)
    vocabularies = _vocabularies(config, text)
    model = _model(config)
    num_processes = next((int(next(filter(None, found))) for found in PROCESSES.findall(text)), None)
    hosts = set(RUNNING_ON.findall(text))
    num_parameters = None
    if model and all(vocabularies):
        num_parameters = cost.parameters(model, vocabularies[0] or 0, vocabularies[1] or 0)
    settings = Settings(
        model=model,
        num_parameters=num_parameters,
        parameters_basis=BASIS if num_parameters else None,
        source_vocabulary=vocabularies[0],
        target_vocabulary=vocabularies[1],
        num_ranks=_ranks(config, text, num_processes),
        num_hosts=len(hosts) or (1 if num_processes is None and config else None),
        hosts_basis="hosts that the log names" if hosts else None,
        pairs_per_rank=None,
        tokens_per_rank=positive(_one(config, "mini-batch-words")),
        forward_passes_per_step=_updates_after(_one(config, "optimizer-delay")),
        max_pieces=positive(_one(config, "max-length")),
        precision=_precision(config),
        label_smoothing=_float(_one(config, "label-smoothing")),
        schedule=_schedule(config),
        max_steps=_max_steps(config),
        save_every_steps=_updates_after(_one(config, "save-freq")),
        evaluate_every_steps=_updates_after(_one(config, "valid-freq")),
        log_every_steps=_updates_after(_one(config, "disp-freq")),
        train_files=tuple(config.get("train-sets", ())),
    )
    return settings, _one(config, "cost-type")


def with_tokens(settings: Settings, points: Sequence[Point]) -> Settings:
    """The tokens of a step, from words a second and seconds a step."""
    counts = [p.tokens_per_s * p.step_s for p in points if p.tokens_per_s is not None and p.step_s is not None]
    return replace(settings, tokens_per_step=float(np.median(counts))) if counts else settings


def _config(lines: Iterable[str]) -> dict[str, list[str]]:
    """The last value of each name, because after a restart the newer settings hold."""
    found: dict[str, list[str]] = {}
    name = None
    for line in lines:
        match = CONFIG.search(line)
        if match is None:
            continue
        if match["name"]:
            name = match["name"]
            value = match["value"].strip().strip('"')
            found[name] = [value] if value and value != "[]" else []
        elif name is not None and match["item"] is not None:
            found[name].append(match["item"].strip().strip('"'))
    return found


def _one(config: dict[str, list[str]], name: str) -> str | None:
    values = config.get(name)
    return values[0] if values else None


def _float(words: str | None) -> float | None:
    try:
        return None if words is None else float(words)
    except ValueError:
        return None


def _updates_after(words: str | None) -> int | None:
    """'5000', '5000u' or '5Ku' are updates; '1e' and '10Mt' are epochs and labels, which say nothing of updates."""
    match = re.fullmatch(r"([\d.]+)([kKmMgG]?)u?", words or "")
    if match is None:
        return None
    return positive(float(match[1]) * UNITS[match[2].lower()])


def _max_steps(config: dict[str, list[str]]) -> int | None:
    after = (_one(config, "after") or "").split(",")
    limits = [_updates_after(_one(config, "after-batches")), *(_updates_after(words) for words in after)]
    known = [limit for limit in limits if limit]
    return min(known) if known else None


def _vocabularies(config: dict[str, list[str]], text: str) -> tuple[int | None, int | None]:
    said = {int(side): int(size.replace(",", "")) for side, size in VOCABULARY.findall(text)}
    given = [positive(size) for size in config.get("dim-vocabs", ())]
    sizes = [said.get(side) or (given[side] if side < len(given) else None) for side in (0, 1)]
    return sizes[0], sizes[1]


def _ranks(config: dict[str, list[str]], text: str, num_processes: int | None) -> int | None:
    if match := DEVICES.search(text):
        return int(match[1]) * (num_processes or 1)
    threads = positive(_one(config, "cpu-threads"))
    devices = config.get("devices")
    per_process = threads or (len(devices) if devices else None)
    return per_process * (num_processes or 1) if per_process else None


def _model(config: dict[str, list[str]]) -> ModelConfig | None:
    """A Transformer whose sizes are all printed; recurrent models are not known here."""
    if _one(config, "type") != "transformer":
        return None
    names = ("dim-emb", "transformer-dim-ffn", "transformer-heads", "enc-depth", "dec-depth")
    width, inner, heads, encoder_layers, decoder_layers = (positive(_one(config, name)) for name in names)
    if not (width and inner and heads and encoder_layers and decoder_layers):
        return None
    is_all = _one(config, "tied-embeddings-all") == "true"
    tied = "three" if is_all else "two" if _one(config, "tied-embeddings") == "true" else "none"
    return ModelConfig(
        width=width,
        feed_forward=inner,
        heads=heads,
        encoder_layers=encoder_layers,
        decoder_layers=decoder_layers,
        tied=tied,
        norm="pre" if "n" in (_one(config, "transformer-preprocess") or "") else "post",
    )


def _precision(config: dict[str, list[str]]) -> str | None:
    kinds = config.get("precision")
    if _one(config, "fp16") == "true":
        return "mixed"
    if not kinds:
        return "fp32" if config else None
    return {"float16": "mixed", "float32": "fp32"}.get(kinds[0], kinds[0])


def _schedule(config: dict[str, list[str]]) -> ScheduleConfig | None:
    """Linear warm-up and a fall as 1/√step, if they meet; other policies of Marian are not ours."""
    peak, warmup = _float(_one(config, "learn-rate")), _updates_after(_one(config, "lr-warmup"))
    fall = _updates_after(_one(config, "lr-decay-inv-sqrt"))
    if peak is None or not warmup or fall != warmup or (_float(_one(config, "lr-decay")) or 0) > 0:
        return None
    return ScheduleConfig(kind="inverse_sqrt", peak=peak, warmup_steps=warmup)
