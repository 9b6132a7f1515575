"""Every way over the wire gives the sum of all ranks, within its bound and the same on all of them."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from dragoman.theory.wire import Layout, Rung, ladder, ring_bytes
from dragoman.training.communication.groups import hosts_of
from dragoman.training.communication.keeping import own_of
from dragoman.training.communication.ways import wire_for
from dragoman.training.gradients import FIRST, Gradients
from dragoman.training.world import World
from tests.training.worlds import in_world

LENGTH = 10_007
BOUNDS = {"none": 1e-6, "half": 2.0**-9, "eight_bits": 0.05}
"""Largest error of a sum of numbers around 1, for two or three ranks."""


class Numbers(torch.nn.Module):
    """A model of three parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.zeros(5000))
        self.encoder = torch.nn.ParameterList([torch.zeros(3000)])
        self.decoder = torch.nn.ParameterList([torch.zeros(2007)])


@dataclass(frozen=True)
class Answer:
    """What one rank saw."""

    worst: float
    extras: list[float]
    checksum: bytes
    sent_bytes: int
    is_finite: bool


def summed(world: World, rung: Rung, local_ranks: tuple[int, ...], bad_rank: int = -1) -> Answer:
    placed = World(world.rank, world.size, local_ranks[world.rank], world.device)
    gradients = Gradients.of(Numbers(), bucket_numbers=2000)
    wire = wire_for(rung, gradients, placed, hosts_of(placed))
    rows = [torch.randn(LENGTH, generator=torch.Generator().manual_seed(rank)) for rank in range(world.size)]
    gradients.own.copy_(rows[world.rank])
    gradients.set_extras([float(world.rank + 1), 123456.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    if world.rank == bad_rank:
        gradients.own[3000] = float("nan")
    crossed = wire.close()
    total = torch.stack(rows).double().sum(dim=0)
    worst = float((gradients.own - total).abs().max())
    wire.end()
    return Answer(
        worst, gradients.flat[:2].tolist(), gradients.flat.numpy().tobytes(), crossed.num_bytes,
        bool(torch.isfinite(gradients.own).all()),
    )  # fmt: skip


def summed_each(
    world: World, rungs: tuple[Rung, ...], local_ranks: tuple[int, ...], bad_rank: int = -1
) -> list[Answer]:
    return [summed(world, rung, local_ranks, bad_rank) for rung in rungs]


def rungs_of(local_ranks: tuple[int, ...]) -> tuple[Rung, ...]:
    return ladder(Layout(len(local_ranks), local_ranks.count(0)))


@pytest.mark.parametrize("local_ranks", [(0, 0), (0, 1), (0, 0, 0), (0, 1, 0)], ids=str)
def test_each_rung_gives_the_sum_on_all_ranks(local_ranks: tuple[int, ...], tmp_path: Path) -> None:
    """Two ranks on two hosts or one, three on three or two."""
    size, rungs = len(local_ranks), rungs_of(local_ranks)
    for rung, answers in zip(
        rungs, zip(*in_world(size, tmp_path, summed_each, rungs, local_ranks), strict=True), strict=True
    ):
        assert len({answer.checksum for answer in answers}) == 1, rung.name
        for answer in answers:
            assert answer.worst <= BOUNDS[rung.codec] * size, rung.name
            assert answer.extras == [size * (size + 1) / 2, size * 123456.0], "extras arrive as they are"
        if not rung.is_two_level:
            wanted = ring_bytes(rung.bytes_factor * 4 * (LENGTH + FIRST), size)
            # Scales of small parts and the rounding of parts to whole bytes weigh more here than in a real row.
            assert answers[0].sent_bytes == pytest.approx(wanted, rel=0.03), rung.name


def test_what_is_not_finite_on_one_rank_is_not_finite_on_all(tmp_path: Path) -> None:
    local_ranks = (0, 1, 0)
    rungs = rungs_of(local_ranks)
    for rung, answers in zip(
        rungs, zip(*in_world(3, tmp_path, summed_each, rungs, local_ranks, 2), strict=True), strict=True
    ):
        assert [answer.is_finite for answer in answers] == [False] * 3, rung.name


def test_two_levels_send_only_from_one_rank_of_a_host(tmp_path: Path) -> None:
    local_ranks = (0, 1, 0)
    rung = next(rung for rung in rungs_of(local_ranks) if rung.name == "two_level")
    sent = [answer.sent_bytes for answer in in_world(3, tmp_path, summed, rung, local_ranks)]
    assert sent[1] == 0 and sent[0] == sent[2] == 4 * LENGTH


def accumulated(world: World, steps: int, has_feedback: bool) -> float:
    """Mean error of the mean of many sums, relative to the true one's mean size."""
    gradients = Gradients.of(Numbers())
    rung = next(rung for rung in rungs_of((0, 0)) if rung.codec == "eight_bits")
    wire = wire_for(rung, gradients, world, ((0,), (1,)))
    rows = [torch.randn(LENGTH, generator=torch.Generator().manual_seed(rank)) ** 3 for rank in range(2)]
    total = torch.zeros(LENGTH, dtype=torch.float64)
    for _ in range(steps):
        gradients.own.copy_(rows[world.rank])
        if wire.residual is not None and not has_feedback:
            wire.residual.zero_()
        wire.close()
        total += gradients.own
    wire.end()
    wanted = torch.stack(rows).double().sum(dim=0)
    return float((total / steps - wanted).abs().mean() / wanted.abs().mean())


def test_error_feedback_makes_eight_bits_right_in_the_long_run(tmp_path: Path) -> None:
    with_feedback = in_world(2, tmp_path, accumulated, 50, True)
    without = in_world(2, tmp_path, accumulated, 50, False)
    assert with_feedback[0] == with_feedback[1]
    assert with_feedback[0] < without[0] / 15
    assert with_feedback[0] < 0.001


def test_with_another_number_of_ranks_what_was_not_sent_stays_the_same_in_all() -> None:
    rows = [torch.tensor([1.0, -2.0]), torch.tensor([3.0, 0.0]), torch.tensor([2.0, 8.0])]
    kept = {f"residual.rank{rank:02}": row for rank, row in enumerate(rows)}

    def own(rank: int, size: int, *, keeps_sum: bool) -> list[float]:
        found = own_of("residual", kept, World(rank, size, 0, torch.device("cpu")), keeps_sum=keeps_sum)
        assert found is not None
        return found.tolist()

    assert own(1, 3, keeps_sum=True) == [3.0, 0.0], "as many ranks as before: to each its own"
    assert own(0, 2, keeps_sum=True) == own(1, 2, keeps_sum=True) == [3.0, 3.0], "half of the sum"
    assert own(0, 2, keeps_sum=False) == [2.0, 2.0], "the mean"
    assert own_of("other", kept, World(0, 3, 0, torch.device("cpu"))) is None


def sees_hosts(world: World, local_ranks: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return hosts_of(World(world.rank, world.size, local_ranks[world.rank], world.device))


def test_a_host_begins_where_local_ranks_do(tmp_path: Path) -> None:
    assert in_world(3, tmp_path, sees_hosts, (0, 1, 0)) == 3 * [((0, 1), (2,))]
