"""The model against a naive one, against itself, and against what is known of its shape."""

# B sentences  S source tokens  T target tokens  R hypotheses  D width  N real tokens, packed

import dataclasses
from collections.abc import Iterator, Sequence

import pytest
import torch
from torch import Tensor

from dragoman.core.config import ModelConfig
from dragoman.core.errors import UserError
from dragoman.model import fused, plain
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.geometry import Geometries
from dragoman.model.noise import Noise
from dragoman.model.parameters import AttentionWeights, FeedForwardWeights, NormWeights, Switches
from dragoman.model.transformer import Transformer, sinusoids
from tests.unit.model import naive_transformer

IDS = SpecialIds(pad=0, bos=1, eos=2)
NUM_PIECES = 50
SMALL = ModelConfig(
    width=16, feed_forward=24, heads=2, encoder_layers=2, decoder_layers=2, dropout=0.0, label_smoothing=0.1
)

Pair = tuple[list[int], list[int]]


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    """In double precision the tolerances below tell a wrong formula from rounding."""
    threads = torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # matrices this small only wait for a second thread
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(threads)


def model_of(config: ModelConfig, seed: int = 1) -> Transformer:
    """A model whose norms and biases are not at their trivial start."""
    model = Transformer(config, NUM_PIECES, NUM_PIECES, IDS, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.3)
    return model


def pairs_of(lengths: Sequence[tuple[int, int]], seed: int = 1) -> list[Pair]:
    generator = torch.Generator().manual_seed(seed)

    def sentence(length: int) -> list[int]:
        return [*torch.randint(3, NUM_PIECES, (length - 1,), generator=generator).tolist(), IDS.eos]

    return [(sentence(source), sentence(target)) for source, target in lengths]


UNEVEN = pairs_of([(3, 5), (1, 1), (20, 2), (4, 18), (7, 7)])


def gradients_of(model: Transformer, loss: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def assert_same_gradients(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        assert torch.allclose(gradient, theirs[name], rtol=1e-7, atol=1e-9), name


@pytest.mark.parametrize(
    ("preset", "num_pieces", "num_parameters"),
    [("base", 32_768, 60_880_896), ("small", 8_000, 7_569_408), ("tiny", 1_000, 1_447_424)],
)
def test_presets_have_the_known_number_of_parameters(preset: str, num_pieces: int, num_parameters: int) -> None:
    torch.set_default_dtype(torch.float32)
    model = Transformer(ModelConfig(preset=preset), num_pieces, num_pieces, IDS)
    assert sum(p.numel() for p in model.parameters()) == num_parameters


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swish"])
@pytest.mark.parametrize("tied", ["three", "two", "none"])
def test_loss_and_gradients_are_those_of_a_naive_transformer(norm: str, activation: str, tied: str) -> None:
    model = model_of(dataclasses.replace(SMALL, norm=norm, activation=activation, tied=tied))
    batch = Batch.of(UNEVEN, IDS.pad)
    smoothed, plain_sum = naive_transformer.loss_sums(model, batch)
    loss = model(batch)
    torch.testing.assert_close(loss.smoothed_sum, smoothed)
    torch.testing.assert_close(loss.plain_sum, plain_sum.double())
    assert loss.num_tokens == sum(len(target) for _, target in UNEVEN)
    assert_same_gradients(gradients_of(model, loss.smoothed_sum), gradients_of(model, smoothed))


def test_single_precision_is_close_to_the_naive_transformer_too() -> None:
    torch.set_default_dtype(torch.float32)
    model, batch = model_of(SMALL), Batch.of(UNEVEN, IDS.pad)
    smoothed, _ = naive_transformer.loss_sums(model, batch)
    ours, theirs = gradients_of(model, model(batch).smoothed_sum), gradients_of(model, smoothed)
    for name, gradient in ours.items():
        assert (gradient - theirs[name]).norm() < 1e-5 * theirs[name].norm(), name


@pytest.mark.parametrize(("encoder_layers", "decoder_layers"), [(3, 1), (1, 3)])
def test_encoder_and_decoder_may_differ_in_depth(encoder_layers: int, decoder_layers: int) -> None:
    config = dataclasses.replace(SMALL, encoder_layers=encoder_layers, decoder_layers=decoder_layers)
    model, batch = model_of(config), Batch.of(UNEVEN, IDS.pad)
    assert (len(model.encoder), len(model.decoder)) == (encoder_layers, decoder_layers)
    torch.testing.assert_close(model(batch).smoothed_sum, naive_transformer.loss_sums(model, batch)[0])


@pytest.mark.parametrize("in_place", [False, True])
def test_two_micro_batches_add_up_to_one_batch(in_place: bool) -> None:
    model, batch = model_of(SMALL), Batch.of(UNEVEN, IDS.pad)
    whole = gradients_of(model, model(batch).smoothed_sum)
    model.zero_grad()
    model.accumulate_in_place = in_place
    parts = batch.split(max_target_tokens=8)
    assert [part.target.lengths for part in parts] == [(5, 1, 2), (18,), (7,)]
    for part in parts:
        model(part).smoothed_sum.backward()
    assert_same_gradients({n: p.grad for n, p in model.named_parameters() if p.grad is not None}, whole)


def test_the_gradient_of_a_scaled_loss_is_scaled_with_it() -> None:
    model, batch = model_of(SMALL), Batch.of(UNEVEN, IDS.pad)
    whole = gradients_of(model, model(batch).smoothed_sum)
    for in_place in (False, True):
        model.accumulate_in_place = in_place
        scaled = gradients_of(model, model(batch).smoothed_sum / 7)
        assert_same_gradients({n: g * 7 for n, g in scaled.items()}, whole)


def test_columns_are_drawn_only_in_training_and_where_it_was_asked_for() -> None:
    model, batch = Transformer(SMALL, 2_000, 2_000, IDS), Batch.of(UNEVEN, IDS.pad)

    def output_gradient(seed: int) -> Tensor:
        model.seed_dropout(seed)
        return gradients_of(model, model(batch).smoothed_sum)["target_embedding"]

    exact = output_gradient(1)
    assert torch.equal(output_gradient(2), exact)
    model.draws_columns = True
    assert not torch.equal(output_gradient(2), exact) and not torch.equal(output_gradient(2), output_gradient(3))
    assert torch.equal(output_gradient(2), output_gradient(2))
    model.eval()
    assert torch.equal(output_gradient(2), exact)


def test_a_pair_scores_the_same_alone_and_among_longer_ones() -> None:
    model = model_of(SMALL).eval()
    together = torch.split_with_sizes(model.score(Batch.of(UNEVEN, IDS.pad)), [len(target) for _, target in UNEVEN])
    for pair, scores in zip(UNEVEN, together, strict=True):
        torch.testing.assert_close(model.score(Batch.of([pair], IDS.pad)), scores)


def test_padding_may_hold_any_id() -> None:
    model, batch = model_of(SMALL).eval(), Batch.of(UNEVEN, IDS.pad)
    other = Batch.of(UNEVEN, pad=17)
    assert not torch.equal(batch.source_BS, other.source_BS)
    assert torch.equal(model.score(batch), model.score(other))


def test_a_later_target_token_changes_no_earlier_score() -> None:
    model = model_of(SMALL).eval()
    source, target = UNEVEN[3]
    changed = [*target[:9], 3 if target[9] != 3 else 4, *target[10:]]
    before, after = model.score(Batch.of([(source, target)], 0)), model.score(Batch.of([(source, changed)], 0))
    torch.testing.assert_close(before[:9], after[:9])
    assert (before[9:] != after[9:]).all()


def test_scores_add_up_to_the_plain_loss() -> None:
    model, batch = model_of(SMALL).eval(), Batch.of(UNEVEN, IDS.pad)
    torch.testing.assert_close(-model.score(batch), model(batch).plain_N)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_step_by_step_scores_equal_teacher_forcing(norm: str) -> None:
    model = model_of(dataclasses.replace(SMALL, norm=norm, tied="none")).eval()
    batch = Batch.of(UNEVEN, IDS.pad)
    forced = model.score(batch)
    state = model.encode(batch.source_BS, batch.source.lengths)
    token_B, stepped = torch.full((len(UNEVEN),), IDS.bos), torch.zeros(batch.target_BT.shape)
    for position in range(batch.target.longest):
        log_probabilities_BV, state = model.step(token_B, state)
        token_B = batch.target_BT[:, position]
        stepped[:, position] = log_probabilities_BV.gather(1, token_B[:, None])[:, 0]
    torch.testing.assert_close(batch.target.pack(stepped), forced, rtol=0, atol=1e-5)


def test_hypotheses_can_be_reordered_and_sentences_dropped() -> None:
    model = model_of(SMALL).eval()
    batch = Batch.of(UNEVEN[:3], IDS.pad)
    state = model.encode(batch.source_BS, batch.source.lengths, beams=2)
    _, state = model.step(torch.full((6,), IDS.bos), state)
    _, state = model.step(torch.tensor([5, 6, 7, 8, 9, 10]), state)
    expected_RV, _ = model.step(torch.tensor([21, 20, 23, 22, 25, 24]), state.select(torch.tensor([1, 0, 3, 2, 5, 4])))
    kept = state.select(torch.tensor([1, 0, 5, 4]), sentences=torch.tensor([0, 2]))
    kept_RV, after = model.step(torch.tensor([21, 20, 25, 24]), kept)
    torch.testing.assert_close(kept_RV, expected_RV[[0, 1, 4, 5]])
    assert after.position == 3
    torch.testing.assert_close(kept_RV.exp().sum(dim=1), torch.ones(4))


def test_positions_are_computed_for_any_length() -> None:
    model = model_of(SMALL).eval()
    assert torch.isfinite(model.score(Batch.of(pairs_of([(300, 600)]), IDS.pad))).all()
    torch.testing.assert_close(sinusoids(600, 16)[:256], sinusoids(256, 16))
    assert sinusoids(3, 4).tolist()[0] == [0.0, 0.0, 1.0, 1.0]


def sublayer_cases() -> Iterator[tuple[str, Switches]]:
    yield "no dropout", Switches("relu")
    for activation in ("relu", "gelu", "swish"):
        generator = torch.Generator()
        noises = Noise(0.3, generator), Noise(0.25, generator), Noise(0.5, generator)
        yield f"dropout, {activation}", Switches(activation, *noises)


@pytest.mark.parametrize("switches", [pytest.param(switches, id=name) for name, switches in sublayer_cases()])
@pytest.mark.parametrize("has_norm", [True, False])
def test_hand_written_gradients_pass_gradcheck_with_dropout(switches: Switches, has_norm: bool) -> None:
    generator = torch.Generator().manual_seed(1)

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).requires_grad_()

    batch = Batch.of(pairs_of([(2, 3), (3, 1)]), IDS.pad)
    geometries, width, inner = Geometries.of(batch, heads=2), 4, 6
    num_target, num_source = batch.num_target_tokens, batch.num_source_tokens
    norm = NormWeights(random(width), random(width)) if has_norm else None

    def reseeded() -> Switches:
        if switches.dropout.generator is not None:
            switches.dropout.generator.manual_seed(7)
        return switches

    def own(x: Tensor, inputs: Tensor, output: Tensor, *_norm: Tensor) -> Tensor:
        weights = AttentionWeights(inputs, None, output, heads=2)
        return fused.attention(x, None, norm, weights, geometries.decoder, reseeded())

    def cross(x: Tensor, memory: Tensor, inputs: Tensor, memory_weight: Tensor, output: Tensor) -> Tensor:
        weights = AttentionWeights(inputs, memory_weight, output, heads=2)
        return fused.attention(x, memory, norm, weights, geometries.cross, reseeded())

    def feed_forward(x: Tensor, *weights: Tensor) -> Tensor:
        return fused.feed_forward(x, norm, FeedForwardWeights(*weights), reseeded())

    def embed(table: Tensor) -> Tensor:
        return fused.embed(table, torch.tensor([3, 0, 3]), sinusoids(3, width), reseeded())

    x, square = random(num_target, width), random(width, width)
    assert torch.autograd.gradcheck(own, (x, random(3 * width, width), square, *(norm or ())), fast_mode=True)
    memory = random(num_source, width)
    assert torch.autograd.gradcheck(
        cross, (x, memory, random(width, width), random(2 * width, width), square), fast_mode=True
    )
    weights = random(inner, width), random(inner), random(width, inner), random(width)
    assert torch.autograd.gradcheck(feed_forward, (x, *weights), fast_mode=True)
    assert torch.autograd.gradcheck(embed, (random(5, width),), fast_mode=True)


def test_without_dropout_fused_and_plain_sublayers_are_equal() -> None:
    model, batch = model_of(SMALL), Batch.of(UNEVEN, IDS.pad)
    geometries, x = Geometries.of(batch, 2), torch.randn(batch.num_target_tokens, 16)
    memory, silent, block = torch.randn(batch.num_source_tokens, 16), Switches("gelu"), model.decoder_layers[0]
    norm, cross, inner = block.cross.norm.weights(), block.cross, block.feed_forward
    weights = AttentionWeights(cross.inputs, cross.memory, cross.output, 2)
    feed_forward = FeedForwardWeights(inner.inner, inner.inner_bias, inner.outer, inner.outer_bias)
    ours = fused.attention(x, memory, norm, weights, geometries.cross, silent)
    torch.testing.assert_close(ours, plain.attention(x, memory, norm, weights, geometries.cross, silent))
    ours = fused.feed_forward(x, norm, feed_forward, silent)
    torch.testing.assert_close(ours, plain.feed_forward(x, norm, feed_forward, silent))
    ids, table = torch.tensor([3, 1, 3]), model.target_embedding
    ours = fused.embed(table, ids, sinusoids(3, 16), silent)
    torch.testing.assert_close(ours, plain.embed(table, ids, sinusoids(3, 16), silent))


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_dropout_keeps_its_share_and_the_mean(rate: float) -> None:
    noise = Noise(rate, torch.Generator().manual_seed(3))
    keep = noise.keep(torch.empty(1000, 1001))
    assert keep is not None
    share = keep.double().mean()
    assert abs(share - (1 - rate)) < 1 / 512 + 3e-3
    assert abs(share * noise.scale - 1) < 3e-3
    bytes_of_a_word = keep.flatten()[:1_000_000].view(-1, 8).double().mean(dim=0)
    assert (bytes_of_a_word - share).abs().max() < 6e-3, "each of the eight bytes of a random word is as good"


def test_dropout_is_seeded_and_only_in_training() -> None:
    torch.set_default_dtype(torch.float32)
    model = model_of(dataclasses.replace(SMALL, dropout=0.1, attention_dropout=0.1, activation_dropout=0.1))
    batch = Batch.of(UNEVEN, IDS.pad)

    def run(seed: int) -> tuple[Tensor, dict[str, Tensor]]:
        model.seed_dropout(seed)
        loss = model(batch).smoothed_sum
        return loss.detach(), gradients_of(model, loss)

    (first, gradients), (again, same_gradients), (other, _) = run(1), run(1), run(2)
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert all(torch.equal(gradients[name], same_gradients[name]) for name in gradients)
    model.eval()
    assert torch.equal(model(batch).smoothed_sum, model(batch).smoothed_sum)


def test_weights_start_as_in_the_paper_whatever_is_fused() -> None:
    torch.set_default_dtype(torch.float32)
    model = Transformer(ModelConfig(preset="tiny"), 2_000, 2_000, IDS, seed=5)
    width, inner = 128, 256
    assert abs(model.target_embedding.std().item() * width**0.5 - 1) < 0.01
    layer = model.decoder_layers[0]
    square_bound = (6 / (width + width)) ** 0.5
    assert layer.cross.memory is not None
    for matrix in (layer.attention.inputs, layer.cross.inputs, layer.cross.memory, layer.attention.output):
        assert 0.99 * square_bound < matrix.abs().max().item() <= square_bound
        assert abs(matrix.std().item() - square_bound / 3**0.5) < 0.01 * square_bound
    assert layer.feed_forward.inner.abs().max().item() <= (6 / (width + inner)) ** 0.5
    assert layer.feed_forward.inner_bias.abs().max().item() == 0.0
    assert torch.equal(layer.attention.norm.scale, torch.ones(width))
    again = Transformer(ModelConfig(preset="tiny"), 2_000, 2_000, IDS, seed=5)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(UserError, match=r"model\.heads = 3 does not divide model\.width = 256"):
        Transformer(ModelConfig(heads=3), 10, 10, IDS)
    with pytest.raises(UserError, match=r"model\.width = 15 is odd"):
        Transformer(ModelConfig(width=15, heads=3), 10, 10, IDS)


def test_tying_all_embeddings_needs_one_vocabulary() -> None:
    with pytest.raises(UserError, match=r"needs one vocabulary, not 10 source and 12 target pieces; set model\.tied"):
        Transformer(SMALL, 10, 12, IDS)


def test_a_batch_refuses_what_cannot_be_predicted() -> None:
    nothing: list[Pair] = []
    no_target: list[Pair] = [([5, 2], [])]
    for pairs in (nothing, no_target):
        with pytest.raises(ValueError, match="a sentence needs tokens"):
            Batch.of(pairs, IDS.pad)
