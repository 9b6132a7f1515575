"""A run directory of ours into `Facts`: finished, running, crashed or damaged. Reads only.

Each file may be missing or broken; then what it would say is unknown, and the report says so. Only a directory that
holds no run at all is refused.
"""

import json
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dragoman.core import config_file, records
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EventRecord, PreflightRecord
from dragoman.report import merging, run_settings, run_times
from dragoman.report.bucket_times import read_buckets
from dragoman.report.columns import Evaluations, HostColumns
from dragoman.report.evaluation_lines import read_evaluations
from dragoman.report.facts import (
    CorpusFacts,
    CorpusFile,
    Device,
    Facts,
    Prediction,
    Settings,
    Source,
)
from dragoman.report.host_samples import read_host
from dragoman.report.record_lines import RankSteps, Reader, read_all_steps

ALIVE_S = 15.0
"""A rank signs every second; silence of so long means that it is gone."""
PeakOf = Callable[[str, str], Device | None]
"""What a device could do: (its name, precision) → a number with its source."""


def read_run(directory: Path, peak_of: PeakOf | None = None, *, num_processes: int = 1) -> Facts:
    """All that a run directory says; UserError if it holds no run."""
    paths = RunPaths(directory)
    if not directory.is_dir():
        raise UserError(f"there is no run {directory}", "train one with `dragoman train RECIPE.toml`")
    if not paths.config.is_file() and not paths.steps(0).parent.is_dir():
        raise UserError(
            f"{directory} is not a run: no config.toml and no steps", "train one with `dragoman train RECIPE.toml`"
        )
    return _RunReader(paths, peak_of, num_processes).facts()


class _RunReader:
    """Reads one directory and remembers what it could not read."""

    def __init__(self, paths: RunPaths, peak_of: PeakOf | None, num_processes: int) -> None:
        self._paths, self._peak_of, self._num_processes = paths, peak_of, num_processes
        self._passed_over: list[str] = []
        self._files: list[str] = []

    def facts(self) -> Facts:
        config = self._config()
        environment = self._json(self._paths.environment) or {}
        preflight = self._record(self._paths.preflight, PreflightRecord)
        events = self._events()
        by_rank = self._ranks(events)
        ranks = {rank: found.columns for rank, found in by_rank.items()}
        steps = merging.merged(ranks)
        evals = self._evaluations()
        hosts = self._hosts()
        buckets, num_unread = read_buckets(self._read(self._paths.exchanges(0)))
        self._count(self._paths.exchanges(0), num_unread)
        corpus = self._corpus(config)
        prediction = self._prediction()
        checkpoints = run_settings.checkpoints_in(self._paths.checkpoints)
        settings = run_settings.settings_of(
            self._paths, config, environment, preflight, hosts, corpus, len(ranks), events
        )
        first = by_rank[min(by_rank)] if by_rank else None
        return Facts(
            source=Source(
                self._paths.directory.resolve().name, "Dragoman", tuple(self._files), tuple(self._passed_over)
            ),
            settings=settings,
            steps=steps,
            ranks=ranks,
            evaluations=evals,
            events=events,
            hosts=hosts,
            buckets=buckets,
            preflight=preflight,
            corpus=corpus,
            checkpoints=checkpoints,
            started_s=run_times.first_time(events, steps),
            ended_s=run_times.last_time(events, steps, evals),
            training_s=run_times.training_seconds(steps, evals),
            last_step=int(steps.step[-1]) if steps else None,
            redone_steps=first.redone_steps if first else None,
            redone_s=first.redone_s if first else None,
            is_running=self._is_running(),
            ended=run_times.ending(events),
            device=self._device(settings),
            compute_step=run_settings.compute_step(preflight),
            prediction=prediction,
            environment=environment,
        )

    def _config(self) -> Config | None:
        try:
            return config_file.load(self._read(self._paths.config))
        except UserError as error:
            self._passed_over.append(f"config.toml cannot be read: {error.problem}")
            return None

    def _events(self) -> tuple[EventRecord, ...]:
        reader = Reader(EventRecord)
        events = tuple(event for block in reader.blocks(self._read(self._paths.events)) for event in block)
        self._count(self._paths.events, reader.num_unread)
        return events

    def _ranks(self, events: Iterable[EventRecord]) -> dict[int, RankSteps]:
        named = [(re.fullmatch(r"rank(\d+)\.jsonl", path.name), path)
                 for path in sorted(self._paths.steps(0).parent.glob("rank*.jsonl"))]  # fmt: skip
        paths = {int(match[1]): self._read(path) for match, path in named if match}
        read = dict(zip(paths, read_all_steps(list(paths.values()), self._num_processes), strict=True))
        for rank, steps in read.items():
            self._count(paths[rank], steps.num_unread)
        found = {rank: steps for rank, steps in read.items() if len(steps.columns)}
        return run_times.without_left_behind(found, events)

    def _evaluations(self) -> Evaluations | None:
        found, num_unread = read_evaluations(self._read(self._paths.evals), self._paths)
        self._count(self._paths.evals, num_unread)
        return found

    def _hosts(self) -> dict[str, HostColumns]:
        hosts = {}
        for path in sorted(self._paths.telemetry("x").parent.glob("*.jsonl")):
            host, num_unread = read_host(self._read(path))
            self._count(path, num_unread)
            if host:
                hosts[path.stem] = host
        return hosts

    def _corpus(self, config: Config | None) -> CorpusFacts | None:
        if config is None or not config.corpus.directory:
            return None
        from dragoman.corpus.manifest import read_manifest

        try:
            manifest = read_manifest(Path(config.corpus.directory))
        except (UserError, ValueError, OSError) as error:
            self._passed_over.append(f"the corpus is unknown: {getattr(error, 'problem', error)}")
            return None
        self._files.append(str(Path(config.corpus.directory) / "manifest.json"))
        files = tuple(CorpusFile(f.path, f.text_bytes, f.lines) for text in manifest.texts for f in text.files)
        train, dev = manifest.splits.get("train"), manifest.splits.get("dev")
        return CorpusFacts(
            languages=manifest.languages,
            files=files,
            pairs_read=manifest.pairs_read,
            train_pairs=train.pairs if train else None,
            dev_pairs=dev.pairs if dev else None,
            source_tokens=train.source_tokens if train else None,
            target_tokens=train.target_tokens if train else None,
            dropped=manifest.dropped(),
            is_cleaned=True,
            vocabularies={side: one.size for side, one in manifest.vocabularies.items()},
        )

    def _device(self, settings: Settings) -> Device | None:
        if self._peak_of is None or not settings.device:
            return None
        return self._peak_of(settings.device, settings.precision or ("fp16" if settings.is_gpu else "fp32"))

    def _prediction(self) -> Prediction | None:
        plan = self._json(self._paths.plan)
        if plan is None:
            return None
        found = run_settings.prediction_of(plan)
        if found is None:
            self._passed_over.append("plan.json holds no plan that can be read")
        return found

    def _is_running(self) -> bool:
        try:
            signed = [path.stat().st_mtime for path in self._paths.heartbeats.iterdir()]
        except OSError:
            return False
        return bool(signed) and time.time() - max(signed) < ALIVE_S

    def _read(self, path: Path) -> Path:
        """Notes that a file is read."""
        if path.is_file():
            self._files.append(str(path.relative_to(self._paths.directory)))
        return path

    def _count(self, path: Path, num_unread: int) -> None:
        if num_unread:
            lines = "1 line" if num_unread == 1 else f"{num_unread:,} lines"
            self._passed_over.append(f"{lines} of {path.relative_to(self._paths.directory)} could not be read")

    def _json(self, path: Path) -> dict[str, Any] | None:
        if not path.is_file():
            return None
        try:
            value = json.loads(self._read(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            self._passed_over.append(f"{path.name} could not be read")
            return None
        return value

    def _record(self, path: Path, kind: type[PreflightRecord]) -> PreflightRecord | None:
        value = self._json(path)
        try:
            return None if value is None else records.from_json(kind, value)
        except ValueError as error:
            self._passed_over.append(f"{path.name} does not fit: {error}")
            return None
