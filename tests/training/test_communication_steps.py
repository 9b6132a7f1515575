"""Whole steps over the wire, with a real model: early or late, in larger steps, in local steps, stopped and resumed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dragoman.core.config import ModelConfig, OptimizerConfig
from dragoman.core.errors import UserError
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.loss import Loss
from dragoman.model.transformer import Transformer
from dragoman.theory.wire import Layout, Rung, ladder
from dragoman.training.communication.wire import Delivery
from dragoman.training.gradients import Gradients
from dragoman.training.local_steps import OUTER_MOMENTUM, OUTER_RATE, LocalStepper
from dragoman.training.optimizer import Optimizer
from dragoman.training.rungs import on_rung
from dragoman.training.step import Stepper, StepResult, Votes
from dragoman.training.world import World
from tests.training.worlds import alone, in_world

SMALL = ModelConfig(width=16, feed_forward=32, heads=2, encoder_layers=2, decoder_layers=2, dropout=0.1)
PAIRS = [([5, 6, 7, 2], [8, 9, 2]), ([5, 2], [7, 7, 7, 2]), ([9, 8, 2], [5, 2]), ([4, 4, 4, 4, 2], [6, 5, 2])]
NUM_TOKENS = sum(len(target) for _, target in PAIRS)
BUCKET_NUMBERS = 4000
RATE = 1e-2


def stepper_of(world: World, kind: type[Transformer] = Transformer, probe_every: int = 0) -> Stepper:
    model = kind(SMALL, 16, 16, SpecialIds(pad=0, bos=1, eos=2), seed=1)
    model.train()
    gradients = Gradients.of(model, BUCKET_NUMBERS)
    model.accumulate_in_place = True
    optimizer = Optimizer(model, OptimizerConfig())
    return Stepper(model, optimizer, gradients, world, seed=1, probe_every=probe_every)


def shares(world: World) -> list[Batch]:
    """Two micro-batches for two ranks, one or two for three: the pairs of the step, dealt out."""
    return [Batch.of([pair], pad=0) for pair in PAIRS[world.rank :: world.size]]


def take(stepper: Stepper, first: int, last: int) -> list[StepResult]:
    world = stepper.world
    return [stepper.step(n, shares(world), NUM_TOKENS, RATE, Votes()) for n in range(first, last + 1)]


def weights(stepper: Stepper) -> bytes:
    return b"".join(p.detach().numpy().tobytes() for p in stepper.model.parameters())


Hosts = tuple[tuple[int, ...], ...]


def rung_named(name: str, hosts: Hosts) -> Rung:
    rungs = ladder(Layout(sum(map(len, hosts)), len(hosts)), max_step_factor=4, local_steps=4)
    return next(rung for rung in rungs if rung.name == name)


def on(world: World, name: str, hosts: Hosts = (), num_single_steps: int = 0) -> Stepper:
    """On a rung of the ladder; every rank has a host of its own unless `hosts` says otherwise."""
    hosts = hosts or tuple((rank,) for rank in range(world.size))
    return on_rung(stepper_of(world), rung_named(name, hosts), hosts, OptimizerConfig(), num_single_steps)


RUNGS = ("plain", "half", "eight_bits", "larger_step_2", "local_steps_4")
TWO_LEVEL_RUNGS = ("two_level", "two_level_half", "eight_bits", "larger_step_2", "local_steps_4")


@dataclass(frozen=True)
class Timed:
    """One run of some steps."""

    weights: bytes
    probes: list[bool]
    skews: list[bool]
    early: list[int]
    """Buckets of each step that had left before backward was done."""
    is_in_order: bool
    exposed: list[tuple[float, float]]
    """Of each step: what its buckets say together, and the wait."""


def trained(world: World, probe_every: int) -> Timed:
    stepper = stepper_of(world, probe_every=probe_every)
    results = take(stepper, 1, 4)
    crossed = [result.exchange for result in results]
    starts = [[delivery.start_s for delivery in one.deliveries] for one in crossed]
    return Timed(
        weights(stepper),
        [one.is_probe for one in crossed],
        [one.skew_s is not None for one in crossed],
        [sum(delivery.ready_s < 0 for delivery in one.deliveries) for one in crossed],
        all(each == sorted(each) for each in starts),
        [(sum(delivery.exposed_s for delivery in one.deliveries) + (one.skew_s or 0), one.wait_s) for one in crossed],
    )


def trained_both_ways(world: World) -> tuple[Timed, Timed]:
    return trained(world, 0), trained(world, 1)


def test_steps_are_equal_to_the_byte_whether_buckets_leave_early_or_late(tmp_path: Path) -> None:
    answers = in_world(3, tmp_path, trained_both_ways)
    assert len({timed.weights for both in answers for timed in both}) == 1
    for early, late in answers:
        assert early.probes == [False] * 4 and early.skews == [False] * 4
        assert late.probes == [True] * 4 and late.skews == [True] * 4
        assert all(number >= 2 for number in early.early), "buckets leave while backward runs"
        assert late.early == [0] * 4
        assert early.is_in_order and late.is_in_order
        for told, waited in (*early.exposed, *late.exposed):
            assert 0 <= told <= waited, "nothing is counted twice"


def test_only_what_backward_did_not_hide_is_exposed() -> None:
    hidden, half, late = (Delivery(4, 4, -3.0, start, end) for start, end in ((-2.0, -1.0), (-1.0, 0.5), (0.5, 2.0)))
    assert [one.exposed_s for one in (hidden, half, late)] == [0.0, 0.5, 1.5]


@pytest.mark.parametrize(
    ("cycle", "single", "watched"),
    [(1, 0, [10, 11, 210, 211]), (2, 0, [20, 22]), (4, 200, [10, 11, 240, 244]), (4, 8, [16, 20])],
)
def test_probes_and_the_updates_after_them_are_watched(cycle: int, single: int, watched: list[int]) -> None:
    stepper = replace(stepper_of(alone()), cycle=cycle, num_single_steps=single, probe_every=200)
    assert [number for number in range(1, 300) if stepper.is_watched(number)] == watched


def test_buckets_cover_the_row_and_the_embedding_leaves_last() -> None:
    model = Transformer(SMALL, 16, 16, SpecialIds(pad=0, bos=1, eos=2))
    gradients = Gradients.of(model, BUCKET_NUMBERS)
    assert len(gradients.buckets) == 3
    assert gradients.buckets[0].end == len(gradients.flat) and gradients.buckets[-1].start == 0
    for later, earlier in zip(gradients.buckets[1:], gradients.buckets, strict=False):
        assert later.end == earlier.start
    assert gradients.buckets[-1].parameters[-1] is model.target_embedding
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    first = [names[id(parameter)] for parameter in gradients.buckets[0].parameters]
    assert first[:2] == ["decoder_norm.shift", "decoder_norm.scale"]
    assert all(name.startswith("decoder") for name in first), "the encoder's norm would hold it back"


class Forgetful(Transformer):
    """Runs out of memory in the backward of its third forward pass, when most gradients have left."""

    passes = 0

    def forward(self, batch: Batch) -> Loss:
        self.passes += 1
        if self.passes == 3:
            self.target_embedding.register_hook(self._run_out)  # type: ignore[no-untyped-call]
        return super().forward(batch)

    def _run_out(self, gradient: Tensor) -> None:
        raise MemoryError


def runs_out(world: World) -> tuple[list[bool], int | None, bytes]:
    stepper = stepper_of(world, Forgetful if world.rank == 0 else Transformer)
    stepper.model.accumulate_in_place = False
    batches = [Batch.of(PAIRS, pad=0)] if world.rank == 0 else []
    results = [stepper.step(number, batches, NUM_TOKENS, RATE, Votes()) for number in (1, 2)]
    before = weights(stepper)
    results.append(stepper.step(3, batches, NUM_TOKENS, RATE, Votes()))
    assert before == weights(stepper)
    return [result.is_finite for result in results], stepper.most_tokens, before


def test_out_of_memory_after_buckets_have_left_leaves_the_step_out_on_all_ranks(tmp_path: Path) -> None:
    (first, most, weights_0), (second, nothing, weights_1) = in_world(2, tmp_path, runs_out)
    assert first == second == [True, True, False]
    assert most is not None and nothing is None
    assert weights_0 == weights_1


Saved = tuple[dict[str, Tensor], dict[str, Tensor]]


def saved(stepper: Stepper) -> Saved:
    """As a checkpoint would hold it: the main rank's, handed to all."""
    of_all = {**stepper.optimizer.state(), **stepper.own_state()}
    return (
        {name: tensor.clone() for name, tensor in stepper.optimizer.weights_for_inference().items()},
        {name: tensor.clone() for name, tensor in of_all.items()},
    )


def whole_and_resumed(
    world: World, names: tuple[str, ...], hosts: Hosts = (), warmup_steps: int = 0
) -> list[tuple[bytes, bytes]]:
    answers = []
    for name in names:
        stepper = on(world, name, hosts, warmup_steps)
        take(stepper, 1, 4)
        model, state = saved(stepper)
        take(stepper, 5, 8)
        whole = weights(stepper)
        other = on(world, name, hosts, warmup_steps)
        other.load(model, _from_main(world, state))
        take(other, 5, 8)
        answers.append((whole, weights(other)))
    return answers


def _from_main(world: World, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The main rank's tensors by name, on all ranks."""
    header = world.from_main("\n".join(f"{n} {str(t.dtype)[6:]} {t.numel()}" for n, t in state.items()).encode())
    tensors = {}
    for line in header.decode().splitlines():
        name, kind, size = line.split()
        own = state[name].reshape(-1) if world.is_main else torch.empty(int(size), dtype=getattr(torch, kind))
        as_bytes = own.contiguous().view(torch.uint8)
        world.broadcast_(as_bytes)
        tensors[name] = as_bytes.view(getattr(torch, kind)).view_as(state[name]) if name in state else own
    return tensors


@pytest.mark.parametrize("size", [2, 3])
def test_every_rung_goes_on_to_the_same_bytes(size: int, tmp_path: Path) -> None:
    answers = in_world(size, tmp_path, whole_and_resumed, RUNGS)
    for place, name in enumerate(RUNGS):
        every = {one for rank in answers for one in rank[place]}
        assert len(every) == 1, name


def test_a_local_rung_goes_on_to_the_same_bytes_before_local_steps_begin(tmp_path: Path) -> None:
    """Eight steps together: what 8 bits have not sent yet is part of the checkpoint."""
    answers = in_world(2, tmp_path, whole_and_resumed, ("local_steps_4",), (), 3)
    assert len({one for rank in answers for one in rank[0]}) == 1


def test_two_hosts_of_two_ranks_go_on_to_the_same_bytes_on_every_two_level_rung(tmp_path: Path) -> None:
    assert all(rung_named(name, ((0, 1), (2, 3))).is_two_level for name in TWO_LEVEL_RUNGS)
    answers = in_world(4, tmp_path, whole_and_resumed, TWO_LEVEL_RUNGS, ((0, 1), (2, 3)))
    for place, name in enumerate(TWO_LEVEL_RUNGS):
        assert len({one for rank in answers for one in rank[place]}) == 1, name


def kept_by_rank(world: World) -> dict[str, float]:
    """What a checkpoint holds beside the optimizer's, with its largest number."""
    found = dict[str, float]()
    for name in ("local_steps_4", "eight_bits"):
        stepper = on(world, name, ((0, 1), (2, 3)))
        take(stepper, 1, 4)
        found |= {key: float(tensor.abs().max()) for key, tensor in stepper.own_state().items()}
    return found


def test_a_checkpoint_holds_what_each_rank_has_not_sent_and_the_outer_optimizer(tmp_path: Path) -> None:
    kept, *others = in_world(4, tmp_path, kept_by_rank)
    assert others == [{}] * 3, "the main rank's is the checkpoint"
    residuals = {name: largest for name, largest in kept.items() if name.startswith("residual")}
    assert list(residuals) == [f"residual.rank{rank:02}" for rank in range(4)]
    assert [largest > 0 for largest in residuals.values()] == [True, False, True, False], "one rank speaks for a host"
    assert kept["outer_momentum"] > 0
    moments = [f"local.{moment}.rank{rank:02}" for moment in ("exp_avg", "exp_avg_sq") for rank in range(4)]
    assert all(kept[name] > 0 for name in moments)


def losses_of_cycles(world: World, name: str) -> list[tuple[bool, float | None, int]]:
    results = take(on(world, name), 1, 4)
    return [(one.is_cycle_end, one.plain_loss, one.exchange.num_bytes) for one in results]


@pytest.mark.parametrize(("name", "ends"), [("larger_step_2", [2, 4]), ("local_steps_4", [4])])
def test_ranks_meet_at_the_end_of_a_cycle_only(name: str, ends: list[int], tmp_path: Path) -> None:
    first, second = in_world(2, tmp_path, losses_of_cycles, name)
    assert [number for number, (is_end, _, _) in enumerate(first, start=1) if is_end] == ends
    for is_end, loss, num_bytes in first:
        assert (loss is not None) == (num_bytes > 0) == is_end
    assert [loss for _, loss, _ in first] == [loss for _, loss, _ in second]


def test_a_larger_step_is_one_step_of_all_its_tokens() -> None:
    larger, plain = stepper_of(alone()), stepper_of(alone())
    larger.cycle = 2
    batches = [Batch.of([pair], pad=0) for pair in PAIRS]
    assert not larger.step(1, batches[:2], 7, RATE, Votes()).is_cycle_end
    result = larger.step(2, batches[2:], NUM_TOKENS - 7, RATE, Votes(save=True))
    plain.model.config = larger.model.config
    expected = take_apart(plain, batches)
    assert result.plain_loss == pytest.approx(expected.plain_loss, rel=1e-6)
    assert result.gradient_norm == pytest.approx(expected.gradient_norm, rel=1e-5)
    assert result.votes.save


def test_the_first_steps_are_updates_of_their_own() -> None:
    stepper = replace(stepper_of(alone()), cycle=4, num_single_steps=8)
    batches = [Batch.of([pair], pad=0) for pair in PAIRS]
    ends = [stepper.step(number, batches, NUM_TOKENS, RATE, Votes()).is_cycle_end for number in range(1, 17)]
    assert [number for number, is_end in enumerate(ends, 1) if is_end] == [*range(1, 9), 12, 16]


def take_apart(stepper: Stepper, batches: list[Batch]) -> StepResult:
    """The same batches with the same dropout as one update, without a cycle's book-keeping."""
    stepper.gradients.zero()
    stepper.cycle = 2
    stepper.step(1, batches[:2], 7, RATE, Votes())
    return stepper.step(2, batches[2:], NUM_TOKENS - 7, RATE, Votes())


def test_local_steps_and_a_running_mean_do_not_go_together() -> None:
    with pytest.raises(UserError, match=r"set optimizer\.average_decay = 0"):
        on_rung(
            stepper_of(alone()),
            rung_named("local_steps_4", ((0,), (1,))),
            ((0,),),
            OptimizerConfig(average_decay=0.9),
        )


def single_then_local(world: World) -> tuple[bytes, bytes, bytes, list[int]]:
    """The weights after four steps of all ranks on either rung; then after a cycle at rate 0, and the bytes of each."""
    local, eight_bits = on(world, "local_steps_4", num_single_steps=4), on(world, "eight_bits")
    results = take(local, 1, 4)
    take(eight_bits, 1, 4)
    single = weights(local)
    results += [local.step(number, shares(world), NUM_TOKENS, 0.0, Votes()) for number in range(5, 9)]
    return single, weights(eight_bits), weights(local), [result.exchange.num_bytes for result in results]


def test_the_first_steps_of_local_rungs_are_those_of_all_ranks_together(tmp_path: Path) -> None:
    first, second = in_world(2, tmp_path, single_then_local)
    single, eight_bits, after, sent = first
    assert single == eight_bits == second[0]
    assert single == after, "the first cycle goes on from there"
    assert sent[:7] == [sent[0]] * 4 + [0] * 3
    assert sent[7] == pytest.approx(2 * sent[0], rel=0.1), "16 bits at a meeting, 8 at first"


def local_cycle(world: World) -> tuple[bytes, list[list[float]], list[list[float]]]:
    """Two cycles with the moves of this rank in each, and the common weights after each."""
    stepper = on(world, "local_steps_4")
    assert isinstance(stepper, LocalStepper)
    moves, commons = [], [_row(stepper)]
    for cycle in range(2):
        take(stepper, 4 * cycle + 1, 4 * cycle + 3)
        before = commons[-1]
        # The fourth local step, without the meeting: on a copy that has the same state.
        stepper.cycle = 1000
        take(stepper, 4 * cycle + 4, 4 * cycle + 4)
        moves.append(before - _row(stepper))
        stepper.cycle = 4
        stepper._set_row()
        stepper._set_extras(Votes())
        stepper.meetings.close()
        stepper._meet()
        stepper._shares.clear()
        commons.append(_row(stepper))
    return weights(stepper), [move.tolist() for move in moves], [common.tolist() for common in commons]


def _row(stepper: Stepper) -> Tensor:
    parts = [parameter.detach().reshape(-1) for _, parameter in sorted(stepper.model.named_parameters())]
    return torch.cat(parts).clone()


def test_a_meeting_moves_the_common_weights_by_nesterovs_method(tmp_path: Path) -> None:
    (first, moves_0, commons), (second, moves_1, _) = in_world(2, tmp_path, local_cycle)
    assert first == second, "all ranks go on from the same weights"
    model = torch.nn.Parameter(torch.tensor(commons[0]))
    outer = torch.optim.SGD([model], lr=OUTER_RATE, momentum=OUTER_MOMENTUM, nesterov=True)
    for cycle in range(2):
        model.grad = (torch.tensor(moves_0[cycle]) + torch.tensor(moves_1[cycle])) / 2
        outer.step()
        assert torch.allclose(model.detach(), torch.tensor(commons[cycle + 1]), atol=2e-4)
    assert max(abs(new - old) for new, old in zip(commons[2], commons[0], strict=True)) > 1e-2, "they do move"
