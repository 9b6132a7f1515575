"""The configuration that OpenSeq2Seq prints at its start: a Python dictionary with objects in it.

Read as literals, never run. Where the dump is broken by other lines, single settings are still found by name.
"""

import ast
import re
from collections import Counter
from typing import Any

from dragoman.core.config import ModelConfig, ScheduleConfig
from dragoman.report.foreign.text import positive
from dragoman.report.foreign.transcript import Settings
from dragoman.theory import cost

TITLE = "Training config:"
MAX_DUMP = 40_000
"""Characters of a dump; more is something else."""
OBJECT = re.compile(r"<[^<>\n]*>")
SETTING = re.compile(r"'(\w+)':\s*('[^'\n]*'|\"[^\"\n]*\"|-?[\d.]+(?:e[-+]?\d+)?|True|False|None)")
PARAMETERS = re.compile(r"Total trainable parameters:\s*([\d,]+)")
RANK = re.compile(r"Building graph in Horovod rank:\s*(\d+)")
DEVICE = re.compile(r"name: ([^\n]+?) major: \d+.*\n(?:[^\n]*\n)?\s*pciBusID: ([\w:.]+)")
DEVICE_NAME = re.compile(r"name: ([^\n]+?) major: \d+ minor: \d+")
SESSION = re.compile(r"Starting training from|Restored checkpoint from|Using horovod")


def find(text: str) -> Settings:
    """What the log says of its own settings."""
    config = _config(text)
    parameters = PARAMETERS.search(text)
    num_parameters = int(parameters[1].replace(",", "")) if parameters else None
    model = _model(config)
    vocabulary = _vocabulary(model, num_parameters)
    ranks = {int(rank) for rank in RANK.findall(text)}
    num_hosts, hosts_basis = _hosts(text)
    data = _part(config, "data_layer_params")
    return Settings(
        model=model,
        num_parameters=num_parameters,
        parameters_basis="the log prints them" if num_parameters else None,
        source_vocabulary=vocabulary,
        target_vocabulary=vocabulary,
        num_ranks=max(ranks) + 1 if ranks else _ranks_without_horovod(config),
        num_hosts=num_hosts,
        hosts_basis=hosts_basis,
        devices=_devices(text),
        pairs_per_rank=positive(config.get("batch_size_per_gpu")),
        forward_passes_per_step=positive(config.get("iter_size")) or (1 if config else None),
        max_pieces=positive(data.get("max_length")),
        precision=_precision(config.get("dtype")),
        loss_scaling=_words(config.get("loss_scaling")),
        label_smoothing=_smoothing(config),
        schedule=_schedule(config),
        max_steps=positive(config.get("max_steps")),
        save_every_steps=positive(config.get("save_checkpoint_steps")),
        evaluate_every_steps=positive(config.get("eval_steps")),
        log_every_steps=positive(config.get("print_loss_steps")),
        train_files=tuple(str(data[name]) for name in ("source_file", "target_file") if data.get(name)),
    )


def _config(text: str) -> dict[str, Any]:
    """The first training dump, as plain values; where it does not parse, what can be found in it by name."""
    _, title, rest = text.partition(TITLE)
    if not title:
        return {}
    dump = rest[: _end_of_braces(rest[:MAX_DUMP])]
    plain = OBJECT.sub(lambda found: '"' + re.sub(r"['\"\\]", "", found[0]) + '"', dump)
    try:
        config = ast.literal_eval(plain.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _scattered(plain)
    return config if isinstance(config, dict) else {}


def _end_of_braces(text: str) -> int:
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if depth == 0 and character == "}":
            return place + 1
    return len(text)


def _scattered(dump: str) -> dict[str, Any]:
    """Settings of a broken dump. A name that parts share, such as hidden_size, counts for each of them."""
    found: dict[str, Any] = {}
    for name, value in SETTING.findall(dump.partition("Evaluation config:")[0]):
        found.setdefault(name, ast.literal_eval(value))
    parts = ("data_layer_params", "encoder_params", "decoder_params", "loss_params", "lr_policy_params")
    for name in ("encoder", "decoder", "loss", "lr_policy"):
        if described := re.search(rf"'{name}':\s*\"([^\"]*)\"", dump):
            found[name] = described[1]
    return {**found, **{part: dict(found) for part in parts if f"'{part}'" in dump}}


def _part(config: dict[str, Any], name: str) -> dict[str, Any]:
    part = config.get(name)
    return part if isinstance(part, dict) else {}


def _model(config: dict[str, Any]) -> ModelConfig | None:
    """A Transformer whose sizes are all printed; anything else is not known here."""
    encoder, decoder = _part(config, "encoder_params"), _part(config, "decoder_params")
    classes = str(config.get("encoder")) + str(config.get("decoder"))
    sizes = [encoder.get(name) for name in ("hidden_size", "filter_size", "num_heads", "encoder_layers")]
    width, inner, heads, encoder_layers = (positive(size) for size in sizes)
    decoder_layers = positive(decoder.get("num_hidden_layers"))
    is_one_width = decoder.get("hidden_size") == width and decoder.get("filter_size") == inner
    if classes.count("Transformer") < 2 or not is_one_width:
        return None
    if not (width and inner and heads and encoder_layers and decoder_layers):
        return None
    return ModelConfig(
        width=width, feed_forward=inner, heads=heads, encoder_layers=encoder_layers, decoder_layers=decoder_layers
    )


def _vocabulary(model: ModelConfig | None, num_parameters: int | None) -> int | None:
    """What is left of the parameters when the layers are taken away: rows of one matrix tied three ways."""
    if model is None or num_parameters is None:
        return None
    rows, rest = divmod(num_parameters - cost.parameters(model, 0, 0), model.width)
    return rows if rest == 0 and rows > 0 else None


def _ranks_without_horovod(config: dict[str, Any]) -> int | None:
    return None if config.get("use_horovod") else positive(config.get("num_gpus"))


def _devices(text: str) -> tuple[str, ...]:
    """One a rank, of the first session that names any."""
    for session in SESSION.split(text):
        if names := DEVICE_NAME.findall(session):
            return tuple(names)
    return ()


def _hosts(text: str) -> tuple[int | None, str | None]:
    """Each rank names its own card: the same slot twice means two machines."""
    for session in SESSION.split(text):
        slots = Counter(slot for _, slot in DEVICE.findall(session))
        if slots:
            most = max(slots.values())
            return most, f"the same PCI slot is named by {most} ranks" if most > 1 else "every PCI slot is named once"
    return None, None


def _words(value: object) -> str | None:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "" else None


def _precision(value: object) -> str | None:
    words = _words(value)
    if words is None or "mixed" in words:
        return words
    return "fp16" if "float16" in words else "fp32" if "float32" in words else words


def _smoothing(config: dict[str, Any]) -> float | None:
    if not config.get("loss"):
        return None
    if "Smoothing" not in str(config["loss"]):
        return 0.0
    smoothing = _part(config, "loss_params").get("label_smoothing")
    return float(smoothing) if isinstance(smoothing, int | float) else None


def _schedule(config: dict[str, Any]) -> ScheduleConfig | None:
    """Only the policy that is a schedule of ours too; its `d_model` must be the model's width."""
    params = _part(config, "lr_policy_params")
    factor, warmup = params.get("learning_rate"), positive(params.get("warmup_steps"))
    is_transformer = "transformer_policy" in str(config.get("lr_policy"))
    if not is_transformer or not isinstance(factor, int | float) or warmup is None or params.get("max_lr"):
        return None
    if params.get("d_model") != _part(config, "encoder_params").get("hidden_size"):
        return None
    coefficient = params.get("coefficient", 1.0)
    return ScheduleConfig(kind="transformer", factor=float(factor) * float(coefficient), warmup_steps=warmup)
