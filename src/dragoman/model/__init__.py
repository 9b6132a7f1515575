"""The translation model: a batch of token ids in, a loss or next-token probabilities out."""
