"""A view in words: each line of text that terminal, page and plain output share. Unknown is left out or a dash."""

from collections.abc import Iterator, Sequence

from dragoman.core.run_records import GpuSample
from dragoman.core.units import count, duration, share, size
from dragoman.watch.charts import part_label
from dragoman.watch.view import EvalView, HostView, Pace, Progress, RankView, View

STALE_AFTER_S = 10.0
MOST_RANKS = 8


def figure(value: float) -> str:
    """A number in a chart's legend: 12345.6 -> '12,346'; 0.8 -> '0.8'; 0.00012 -> '1.2e-04'."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1e}" if 0 < abs(value) < 0.001 else f"{value:.4g}"


def slowest(ranks: Sequence[RankView]) -> tuple[RankView, ...]:
    """All ranks, or of many those that work longest before they meet the others: the ones that everyone waits for."""
    if len(ranks) <= MOST_RANKS:
        return tuple(ranks)

    def own_s(rank: RankView) -> float:
        return (rank.step_s or 0.0) - (rank.parts.get("exchange_s") or 0.0)

    return tuple(sorted(ranks, key=own_s, reverse=True)[:MOST_RANKS])


def progress_line(progress: Progress) -> str:
    """'step 1,200 of 10,000 (12 %) · 3 min 2 s trained · 22 min 10 s left · cost 1.20'."""
    if progress.step is None:
        return "no step is done yet"
    words = [f"step {count(progress.step)}"]
    if progress.last_step is not None:
        words[0] += f" of {count(progress.last_step)} ({share(progress.step, progress.last_step)})"
    if progress.training_s is not None:
        words.append(f"{duration(progress.training_s)} trained")
    if progress.left_s is not None:
        words.append(f"{duration(progress.left_s)} left")
    if progress.cost is not None:
        words.append(f"cost {progress.cost:.2f}")
    return " · ".join(words)


def pace_line(pace: Pace) -> str:
    """'loss 3.214 · learning rate 1.00e-03 · gradient norm 0.80 · 12,345 tokens/s · step 0.166 s'."""
    words = [
        f"loss {pace.loss:.3f}" if pace.loss is not None else "loss –",
        f"learning rate {pace.learning_rate:.2e}" if pace.learning_rate is not None else None,
        f"gradient norm {pace.gradient_norm:.2f}" if pace.gradient_norm is not None else None,
        f"{count(round(pace.tokens_per_s))} tokens/s" if pace.tokens_per_s is not None else None,
        f"step {pace.step_s:.3f} s" if pace.step_s is not None else None,
    ]
    return " · ".join(word for word in words if word)


def evaluation_line(evaluation: EvalView) -> str:
    """'dev loss 2.345 · train loss 2.301 · BLEU 12.3 (11.0–13.5) · chrF 33.3 at step 1,000'."""
    words = [
        f"dev loss {evaluation.dev_loss:.3f}" if evaluation.dev_loss is not None else "dev loss –",
        f"train loss {evaluation.train_loss:.3f}" if evaluation.train_loss is not None else None,
        f"BLEU {evaluation.bleu:.1f}" if evaluation.bleu is not None else None,
        f"chrF {evaluation.chrf:.1f}" if evaluation.chrf is not None else None,
    ]
    if evaluation.bleu is not None and evaluation.bleu_interval is not None:
        low, high = evaluation.bleu_interval
        words[2] = f"{words[2]} ({low:.1f}–{high:.1f})"
    return " · ".join(word for word in words if word) + f" at step {count(evaluation.step)}"


def account_line(account: str) -> str:
    """Where the report of a run that is over lies."""
    return f"what happened, and why: {account}"


def rank_line(rank: RankView) -> str:
    """'rank 0: 0.166 s = data wait 1 %, forward 30 %, …; padding 2 %'."""
    if rank.step_s is None:
        return f"rank {rank.rank}: no step yet"
    known = {part: seconds for part, seconds in rank.parts.items() if seconds is not None}
    words = [f"{part_label(part)} {share(seconds, rank.step_s)}" for part, seconds in known.items()]
    other = rank.step_s - sum(known.values())
    if len(known) == len(rank.parts) and other > 0.005 * rank.step_s:
        words.append(f"other {share(other, rank.step_s)}")
    padding = f"; padding {share(rank.padding_share, 1)}" if rank.padding_share is not None else ""
    return f"rank {rank.rank}: {rank.step_s:.3f} s = {', '.join(words)}{padding}"


def rank_lines(view: View) -> list[str]:
    """Every rank, or the slowest of many."""
    shown = slowest(view.ranks)
    left_out = len(view.ranks) - len(shown)
    return [rank_line(rank) for rank in shown] + ([f"{left_out} ranks are faster"] if left_out else [])


def host_line(host: HostView) -> str:
    """'b: CPU 80 % · memory 3.1 GB of 8.0 GB · eth0 (gradients) sends 90.0 MB/s, receives 91.0 MB/s of 125.0 MB/s'."""
    words = [f"CPU {share(host.cpu_share, 1)}" if host.cpu_share is not None else "CPU –"]
    if host.memory_used_bytes is not None and host.memory_total_bytes is not None:
        words.append(f"memory {size(host.memory_used_bytes)} of {size(host.memory_total_bytes)}")
    if host.process_memory_bytes is not None:
        words.append(f"training {size(host.process_memory_bytes)}")
    if host.disk_free_bytes is not None:
        words.append(f"disk free {size(host.disk_free_bytes)}")
    if host.nic is not None and (host.carries_gradients or host.nic.sent_bytes_per_s + host.nic.received_bytes_per_s):
        words.append(_nic_words(host))  # of interfaces that carry nothing, none is worth a word
    if host.age_s is not None and host.age_s > STALE_AFTER_S:
        words.append(f"last seen {duration(host.age_s)} ago")
    return f"{host.name}: {' · '.join(words)}"


def _nic_words(host: HostView) -> str:
    assert host.nic is not None
    nic = host.nic
    name = f"{nic.name} (gradients)" if host.carries_gradients else nic.name
    claimed = f" of {size(nic.speed_mbps * 1e6 / 8)}/s" if nic.speed_mbps else ""
    errors = f", {count(nic.new_errors)} errors" if nic.new_errors else ""
    return f"{name} sends {size(nic.sent_bytes_per_s)}/s, receives {size(nic.received_bytes_per_s)}/s{claimed}{errors}"


def gpu_line(gpu: GpuSample) -> str:
    """'GPU 0 Tesla V100: 100 % of the time busy · 42 W of 250 W · 1.2 GB of 16.0 GB · 37 °C'."""
    words = [f"{share(gpu.utilisation, 1)} of the time busy" if gpu.utilisation is not None else "utilisation –"]
    if gpu.power_w is not None:
        cap = f" of {gpu.power_cap_w:.0f} W" if gpu.power_cap_w is not None else ""
        words.append(f"{gpu.power_w:.0f} W{cap}")
    if gpu.memory_used_bytes is not None and gpu.memory_total_bytes is not None:
        words.append(f"{size(gpu.memory_used_bytes)} of {size(gpu.memory_total_bytes)}")
    if gpu.clock_mhz is not None:
        words.append(f"{gpu.clock_mhz:.0f} MHz")
    if gpu.temperature_c is not None:
        words.append(f"{gpu.temperature_c:.0f} °C")
    if gpu.throttle_reasons:
        words.append("held back by " + ", ".join(reason.replace("_", " ") for reason in gpu.throttle_reasons))
    return f"GPU {gpu.index} {gpu.name}: {' · '.join(words)}"


def lines(view: View) -> Iterator[str]:
    """The whole view but its charts, as plain text."""
    yield f"{view.name}: {view.status.sentence}"
    if view.progress.step is not None:
        yield progress_line(view.progress)
        yield pace_line(view.pace)
    if view.evaluation is not None:
        yield evaluation_line(view.evaluation)
    if view.account is not None:
        yield account_line(view.account)
    yield from rank_lines(view)
    for host in view.hosts:
        yield f"host {host_line(host)}"
        yield from (f"  {gpu_line(gpu)}" for gpu in host.gpus)
    for event in view.events:
        yield event_line(event.time, event.kind, event.step, event.text)
    for sample in view.samples[:1]:
        yield f"dev sentence at step {count(sample.step)}: {sample.source}"
        yield f"  translation: {sample.translation}"
        yield f"  reference:   {sample.reference}"
    yield from (f"note: {note}" for note in view.notes)


def event_line(stamp: str, kind: str, step: int | None, text: str) -> str:
    """'23:20:38 saved at step 5: checkpoint in 0.13 s'."""
    clock = stamp[11:19] if len(stamp) >= 19 else "–"
    return f"{clock} {kind}{f' at step {count(step)}' if step is not None else ''}: {text}"
