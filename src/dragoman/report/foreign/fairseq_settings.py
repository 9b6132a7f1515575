"""The settings that fairseq prints at its start: `Namespace(name=value, …)`, or nested dictionaries in newer versions.

Found by name, first come first; nothing is run.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dragoman.core.config import ModelConfig, ScheduleConfig
from dragoman.report.foreign.text import positive
from dragoman.report.foreign.transcript import Settings

PARAMETERS = re.compile(r"num\. (?:shared )?model params: ([\d,]+)(?: \(num\. trained: ([\d,]+)\))?")
RANKS = re.compile(r"training on (\d+) (?:devices|GPUs|GPU)")
TOKENS = re.compile(r"max tokens per (?:GPU|device) = (\w+) and (?:max )?sentences per (?:GPU|device) = (\w+)")
DICTIONARY = re.compile(r"\[\w+\] [Dd]ictionary: ([\d,]+) types")
DEVICE = re.compile(r"rank\s+(\d+): capabilities =.*; name = ([^\n|;]+)")
HOST = re.compile(r"initialized host (\S+) as rank (\d+)")
DUMP = re.compile(r"Namespace\(|\| INFO \| [\w.]+ \| \{'_name'")
MAX_DUMP = 60_000


def find(text: str) -> Settings:
    """What the log says of its own settings."""
    begin = DUMP.search(text)
    dump = text[begin.start() : begin.start() + MAX_DUMP] if begin else ""
    parameters = PARAMETERS.search(text)
    num_parameters = int((parameters[2] or parameters[1]).replace(",", "")) if parameters else None
    vocabularies = [int(size.replace(",", "")) for size in DICTIONARY.findall(text)[:2]]
    devices = dict(DEVICE.findall(text))
    hosts = {host for host, _ in HOST.findall(text)}
    told = RANKS.search(text)
    per_rank = TOKENS.search(text)
    return Settings(
        model=_model(dump),
        num_parameters=num_parameters,
        parameters_basis="the log prints them" if num_parameters else None,
        source_vocabulary=vocabularies[0] if vocabularies else None,
        target_vocabulary=vocabularies[-1] if vocabularies else None,
        num_ranks=int(told[1]) if told else positive(_value(dump, "distributed_world_size")),
        num_hosts=len(hosts) or _one_host(dump),
        hosts_basis="hosts that the log names" if hosts else None,
        devices=tuple(devices[rank].strip() for rank in sorted(devices, key=int)),
        pairs_per_rank=positive(per_rank[2]) if per_rank else positive(_value(dump, "batch_size")),
        tokens_per_rank=positive(per_rank[1]) if per_rank else positive(_value(dump, "max_tokens")),
        forward_passes_per_step=positive(_value(dump, "update_freq")),
        precision=_precision(dump),
        label_smoothing=_smoothing(dump),
        schedule=_schedule(dump),
        max_steps=positive(_value(dump, "max_update")),
        save_every_steps=positive(_value(dump, "save_interval_updates")),
        evaluate_every_steps=positive(_value(dump, "validate_interval_updates")),
        log_every_steps=positive(_value(dump, "log_interval")),
    )


def with_tokens(settings: Settings, tokens: Sequence[float]) -> Settings:
    """The tokens of a step, a median of what the log counts."""
    known = [count for count in tokens if count == count and count > 0]
    return replace(settings, tokens_per_step=float(np.median(known))) if known else settings


def _value(dump: str, name: str) -> str | None:
    """The first value of a name; of a list its first entry; None and the empty string are no values."""
    match = re.search(rf"(?<![\w-])['\"]?{name}['\"]?\s*[=:]\s*(?:\[\s*)?('[^'\n]*'|\"[^\"\n]*\"|[\w.+-]+)", dump)
    words = match[1].strip("'\"") if match else ""
    return words if words not in ("", "None", "null") else None


def _float(words: str | None) -> float | None:
    try:
        return None if words is None else float(words)
    except ValueError:
        return None


def _one_host(dump: str) -> int | None:
    """One where the ranks meet on localhost."""
    meeting = re.search(r"distributed_init_method['\"]?\s*[=:]\s*['\"]tcp://(localhost|127\.0\.0\.1)", dump)
    return 1 if meeting else None


def _model(dump: str) -> ModelConfig | None:
    """A Transformer whose sizes are all printed."""
    names = (
        "encoder_embed_dim",
        "encoder_ffn_embed_dim",
        "encoder_attention_heads",
        "encoder_layers",
        "decoder_layers",
    )
    width, inner, heads, encoder_layers, decoder_layers = (positive(_value(dump, name)) for name in names)
    is_transformer = "transformer" in (_value(dump, "arch") or "")
    if not is_transformer or not (width and inner and heads and encoder_layers and decoder_layers):
        return None
    is_all = _value(dump, "share_all_embeddings") == "True"
    is_output = _value(dump, "share_decoder_input_output_embed") == "True"
    return ModelConfig(
        width=width,
        feed_forward=inner,
        heads=heads,
        encoder_layers=encoder_layers,
        decoder_layers=decoder_layers,
        tied="three" if is_all else "two" if is_output else "none",
        norm="pre" if _value(dump, "encoder_normalize_before") == "True" else "post",
    )


def _precision(dump: str) -> str | None:
    if not dump:
        return None
    if _value(dump, "bf16") == "True":
        return "bf16"
    return "fp16" if _value(dump, "fp16") == "True" else "fp32"


def _smoothing(dump: str) -> float | None:
    criterion = re.search(r"label_smoothed_cross_entropy|['\"]?criterion['\"]?\s*[=:]\s*['\"{]+", dump)
    if criterion is None:
        return None
    return _float(_value(dump, "label_smoothing")) if "label_smoothed" in dump else 0.0


def _schedule(dump: str) -> ScheduleConfig | None:
    """Linear warm-up and a fall as 1/√step: the policy that is ours too."""
    peak, warmup = _float(_value(dump, "lr")), positive(_value(dump, "warmup_updates"))
    if "inverse_sqrt" not in dump or peak is None or warmup is None:
        return None
    return ScheduleConfig(kind="inverse_sqrt", peak=peak, warmup_steps=warmup)
