"""What a model costs, from its settings alone: parameters, multiplies, bytes.

Planning, training and reporting share these numbers; tests hold them equal to the real module. No torch and no
measurement: how fast a machine does this work is not known here.
"""

from dragoman.core.config import ModelConfig

FLOAT_BYTES = 4
"""Weights, gradients and moments are kept in 32 bits whatever the multiplies use."""
ADAM_MOMENTS = 2
LEAST_KEYS = 16
"""Attention pads its keys up to this; see `model.geometry`."""
CHUNK_TOKENS = 512
"""Tokens whose logits live at a time; see `model.loss`."""


def parameters(model: ModelConfig, source_vocabulary: int, target_vocabulary: int) -> int:
    """Trainable numbers: projections without bias, feed-forward with biases, norms with scale and shift."""
    model = model.sized()
    width, inner = model.width, model.feed_forward
    norm, attention, feed_forward = 2 * width, 4 * width**2, 2 * width * inner + inner + width
    encoder = model.encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = model.decoder_layers * (2 * attention + feed_forward + 3 * norm)
    last_norms = 2 * norm if model.norm == "pre" else 0
    return embedding_parameters(model, source_vocabulary, target_vocabulary) + encoder + decoder + last_norms


def embedding_parameters(model: ModelConfig, source_vocabulary: int, target_vocabulary: int) -> int:
    """Those of the source, target and output matrices, each shared one counted once."""
    rows = {
        "three": target_vocabulary,
        "two": source_vocabulary + target_vocabulary,
        "none": source_vocabulary + 2 * target_vocabulary,
    }
    return rows[model.tied] * model.sized().width


def flops_per_target_token(
    model: ModelConfig,
    written_pieces: int,
    source_length: float,
    target_length: float,
    *,
    counts_gradient_of_logits: bool = True,
) -> float:
    """Forward and backward multiplies and additions of a pair of mean lengths, for each of its target tokens.

    `written_pieces` have logits: at most the target vocabulary. Useful work only: padding, recomputation, norms and
    softmax are not counted. The backward pass costs twice the forward pass; of logits training on a CPU draws a part of
    it, which may be left out. Attention is counted in full, also where the decoder's mask hides half of it.
    """
    model = model.sized()
    width, feed_forward = model.width, 2 * model.width * model.feed_forward
    encoder_row = 4 * width**2 + feed_forward + 2 * width * source_length
    own_row = 4 * width**2 + 2 * width * target_length
    cross_row = 2 * width**2 + 2 * width * source_length
    source_row = model.encoder_layers * encoder_row + model.decoder_layers * 2 * width**2
    target_row = model.decoder_layers * (own_row + cross_row + feed_forward)
    logits = width * written_pieces * (3 if counts_gradient_of_logits else 1)
    return 2 * (3 * (target_row + source_row * source_length / target_length) + logits)


def gradient_bytes(num_parameters: int) -> int:
    """What one exchange of gradients carries at full precision."""
    return num_parameters * FLOAT_BYTES


def muon_parameters(model: ModelConfig) -> int:
    """Those of the matrices inside layers: where Muon moves them, they have one moment instead of two."""
    model = model.sized()
    attention, feed_forward = 4 * model.width**2, 2 * model.width * model.feed_forward
    return model.encoder_layers * (attention + feed_forward) + model.decoder_layers * (2 * attention + feed_forward)


def checkpoint_bytes(num_parameters: int, num_muon: int = 0) -> int:
    """Weights and moments: two of Adam, one of those that Muon moves."""
    return FLOAT_BYTES * ((1 + ADAM_MOMENTS) * num_parameters - num_muon)


def training_state_bytes(num_parameters: int, num_muon: int = 0) -> int:
    """What training holds beside activations: weights, gradients, moments."""
    return gradient_bytes(num_parameters) + checkpoint_bytes(num_parameters, num_muon)


def logits_bytes(num_tokens: int, target_vocabulary: int, chunk_tokens: int = CHUNK_TOKENS) -> int:
    """Logits that live at a time."""
    return min(num_tokens, chunk_tokens) * target_vocabulary * FLOAT_BYTES


def activation_bytes(
    model: ModelConfig, target_vocabulary: int, num_sentences: int, source_length: int, target_length: int
) -> int:
    """Upper estimate of what one micro-batch holds at its fullest: all that the gradient needs, and the loss.

    For sentences of equal lengths; padding inside the micro-batch counts as tokens. With masks of dropout, which only
    a machine without a compiler writes down.
    """
    model = model.sized()
    source_tokens, target_tokens = num_sentences * source_length, num_sentences * target_length
    source_keys, target_keys = max(LEAST_KEYS, source_length), max(LEAST_KEYS, target_length)
    inner = _feed_forward_row(model)
    encoder_rows = source_tokens * inner + _attention_bytes(model, num_sentences, source_length, source_keys)
    own = _attention_bytes(model, num_sentences, target_length, target_keys)
    cross = _attention_bytes(model, num_sentences, target_length, source_keys)
    layers = model.encoder_layers * encoder_rows + model.decoder_layers * (target_tokens * inner + own + cross)
    ends = 5 * (source_tokens + target_tokens) * model.width * FLOAT_BYTES
    return layers + ends + _loss_bytes(model, target_vocabulary, target_tokens)


def _feed_forward_row(model: ModelConfig) -> int:
    """Bytes a token: input, normed, mask; inner layer, and once more where the activation cannot be undone."""
    copies = 1 if model.activation == "relu" else 2 + (model.activation_dropout > 0)
    return (3 * model.width + copies * model.feed_forward) * FLOAT_BYTES


def _attention_bytes(model: ModelConfig, num_sentences: int, num_queries: int, num_keys: int) -> int:
    """Input, normed, context and mask; queries; padded keys and values; attention weights."""
    rows = num_sentences * num_queries * 5 * model.width * FLOAT_BYTES
    keys_values = 2 * num_sentences * num_keys * model.width * FLOAT_BYTES
    weights = num_sentences * model.heads * num_queries * num_keys
    return rows + keys_values + weights * FLOAT_BYTES * (1 + (model.attention_dropout > 0))


def _loss_bytes(model: ModelConfig, target_vocabulary: int, target_tokens: int) -> int:
    """Logits of a chunk, gradients of the output matrix and of the hidden rows."""
    hidden = target_tokens * model.width * FLOAT_BYTES
    return logits_bytes(target_tokens, target_vocabulary) + target_vocabulary * model.width * FLOAT_BYTES + hidden
