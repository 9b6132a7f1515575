"""Settings written out: every value of a `Config` as TOML, as a run keeps it; and what differs between two."""

import dataclasses
import json
from typing import Any

from dragoman.core.config import Config


def to_toml(config: Config) -> str:
    """All settings, defaults included; `config_file.parse` gives the same `Config` back."""
    parts = []
    for section in dataclasses.fields(config):
        values = getattr(config, section.name)
        lines = [f"[{section.name}]"]
        entries: list[tuple[str, Any]] = []
        for field in dataclasses.fields(values):
            value = getattr(values, field.name)
            if isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
                entries += [(field.name, entry) for entry in value]
            else:
                lines.append(f"{field.name} = {_spelled(value)}")
        for name, entry in entries:
            lines += ["", f"[[{section.name}.{name}]]"]
            lines += [f"{field.name} = {_spelled(getattr(entry, field.name))}" for field in dataclasses.fields(entry)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple):
        return f"[{', '.join(map(_spelled, value))}]"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def differences(before: Any, now: Any, path: str = "") -> list[str]:
    """The settings that differ between two trees of plain values, each as `section.key was …, now …`."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [*before, *(key for key in now if key not in before)]
        return [
            text
            for key in keys
            for text in differences(before.get(key), now.get(key), f"{path}.{key}" if path else str(key))
        ]
    return [] if before == now else [f"{path} was {before!r}, now {now!r}"]
