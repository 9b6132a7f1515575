"""A model that writes only some pieces is the whole model with all others made impossible."""

# O pieces that are written  R hypotheses  V vocabulary

import pytest
import torch
import torch.nn.functional as F

from dragoman.core.config import ModelConfig
from dragoman.core.errors import UserError
from dragoman.core.paths import WRITTEN_PIECES
from dragoman.model import plain, transformer
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.transformer import Transformer

IDS = SpecialIds(pad=0, bos=1, eos=2)
WRITTEN = [0, 1, 2, 5, 7, 11, 12, 19]
PAIRS = [([3, 4, 9, 2], [5, 7, 2]), ([8, 2], [19, 11, 12, 7, 2])]


def model(written: list[int] | None = None, tied: str = "three") -> Transformer:
    sizes = ModelConfig(width=16, feed_forward=32, heads=2, encoder_layers=1, decoder_layers=1, dropout=0.0, tied=tied)
    ours = Transformer(sizes, 20, 20, IDS, seed=3)
    if written is not None:
        ours.outputs.restrict(written)
    return ours


def with_only(whole: Transformer, pairs: list[tuple[list[int], list[int]]]) -> torch.Tensor:
    """The smoothed loss of the whole model after logits of other pieces than WRITTEN were taken away."""
    batch = Batch.of(pairs, IDS.pad)
    target_N = batch.target.pack(batch.target_BT)
    logits_NO = F.linear(whole._hidden(batch, target_N), whole.output_table)[:, WRITTEN]
    column_N = torch.tensor([WRITTEN.index(int(piece)) for piece in target_N])
    return F.cross_entropy(logits_NO, column_N, reduction="sum", label_smoothing=0.1)


@pytest.mark.parametrize("tied", ["three", "two", "none"])
@pytest.mark.parametrize("accumulates", [False, True])
@pytest.mark.parametrize("on_cpu", [True, False])
def test_loss_and_gradients_are_those_of_the_written_pieces_alone(
    monkeypatch: pytest.MonkeyPatch, tied: str, accumulates: bool, on_cpu: bool
) -> None:
    if not on_cpu:  # what other devices compute
        monkeypatch.setattr(transformer, "sublayers", lambda _device: plain)
    some, whole = model(WRITTEN, tied=tied), model(tied=tied)
    some.accumulate_in_place = accumulates and on_cpu
    for parameter in some.parameters():
        parameter.grad = torch.zeros_like(parameter)
    loss, expected = some(Batch.of(PAIRS, IDS.pad)), with_only(whole, PAIRS)
    torch.testing.assert_close(loss.smoothed_sum, expected)
    torch.autograd.backward((loss.smoothed_sum * 2, expected * 2))
    for (name, ours), theirs in zip(some.named_parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, msg=name)


def test_the_next_token_is_one_of_the_written_pieces() -> None:
    some, whole = model(WRITTEN).eval(), model().eval()
    source, lengths = torch.tensor([[3, 4, 9, 2], [8, 2, 0, 0]]), [4, 2]
    states = [one.encode(source, lengths) for one in (some, whole)]
    for columns_R in (torch.tensor([1, 1]), torch.tensor([3, 7])):
        found_RO, states[0] = some.step(columns_R, states[0])
        all_RV, states[1] = whole.step(torch.tensor(WRITTEN)[columns_R], states[1])
        torch.testing.assert_close(found_RO, all_RV[:, WRITTEN].log_softmax(dim=1))


def test_what_is_never_written_has_no_probability() -> None:
    batch = Batch.of([([8, 2], [5, 6, 2])], IDS.pad)
    found_N = model(WRITTEN).eval().score(batch)
    assert found_N[1] == -torch.inf
    assert torch.isfinite(found_N[[0, 2]]).all()
    assert torch.isfinite(model().eval().score(batch)).all()


def test_the_list_survives_a_checkpoint() -> None:
    first, second = model(WRITTEN), model()
    second.outputs.load(first.outputs.saved())
    assert second.outputs.piece_O.tolist() == WRITTEN
    assert second.outputs.column_V[[5, 6, 19]].tolist() == [3, -1, 7]


def test_a_checkpoint_without_a_list_writes_everything() -> None:
    ours = model(WRITTEN)
    ours.outputs.load({})
    assert ours.outputs.are_all
    assert ours.outputs.column_V.tolist() == list(range(20))
    assert ours.outputs.saved() == {}


def test_nearly_all_pieces_are_all() -> None:
    assert model(list(range(19))).outputs.are_all
    assert not model(list(range(18))).outputs.are_all


@pytest.mark.parametrize("pieces", [[3, 20], [-1, 3], []])
def test_a_list_of_another_vocabulary_is_refused(pieces: list[int]) -> None:
    with pytest.raises(UserError, match="written_pieces are not pieces of a vocabulary of 20"):
        model().outputs.load({WRITTEN_PIECES: torch.tensor(pieces, dtype=torch.int32)})
