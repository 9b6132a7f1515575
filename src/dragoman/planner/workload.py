"""The work of a plan: what one step computes and sends, from the recipe and, where it is prepared, its corpus."""

from dataclasses import dataclass, field, replace
from math import ceil

from dragoman.core.config import Config, ModelConfig, ScheduleConfig
from dragoman.core.errors import UserError
from dragoman.corpus.manifest import Manifest
from dragoman.theory import cost
from dragoman.theory.wire import Row

ASSUMED_LENGTH = 30.0
"""Pieces of a sentence where no corpus is there to count them: WMT16 English–German has 30.5 with 32,768 pieces."""
BUCKET_BYTES = 25 * 2**20
"""Gradients that travel together, about; only latency depends on it."""


@dataclass(frozen=True)
class Workload:
    """One step of a recipe, whoever computes it."""

    model: ModelConfig
    source_vocabulary: int
    target_vocabulary: int
    source_length: float
    target_length: float
    """Mean pieces of a sentence, its end included."""
    tokens_per_step: int
    """Target tokens of all ranks."""
    tokens_per_micro_batch: int
    num_steps: int
    precision: str
    """auto, fp32, bf16 or fp16."""
    has_muon: bool = False
    """Muon moves the matrices inside layers."""
    has_average: bool = False
    """A running mean of the weights is kept too."""
    communication: str = "auto"
    """The rung that the recipe names, or auto."""
    max_step_factor: int = 1
    """How many times `tokens_per_step` one update may take where the wire is slow."""
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    """Its warm-up is over before steps grow."""
    assumptions: tuple[str, ...] = ()

    @property
    def num_parameters(self) -> int:
        return cost.parameters(self.model, self.source_vocabulary, self.target_vocabulary)

    @property
    def gradient_bytes(self) -> int:
        return cost.gradient_bytes(self.num_parameters)

    @property
    def checkpoint_bytes(self) -> int:
        return cost.checkpoint_bytes(self.num_parameters, self.muon_parameters)

    @property
    def muon_parameters(self) -> int:
        return cost.muon_parameters(self.model) if self.has_muon else 0

    @property
    def flops_per_token(self) -> float:
        return cost.flops_per_target_token(self.model, self.target_vocabulary, self.source_length, self.target_length)

    @property
    def row(self) -> Row:
        """A tied embedding is used first and last, so its gradient is ready when all others are."""
        embedding = cost.embedding_parameters(self.model, self.source_vocabulary, self.target_vocabulary)
        num_buckets = 1 + ceil((self.gradient_bytes - cost.gradient_bytes(embedding)) / BUCKET_BYTES)
        return Row(self.gradient_bytes, cost.gradient_bytes(embedding), num_buckets)

    def micro_batches(self, num_ranks: int) -> int:
        """Of one rank in a step."""
        return max(1, ceil(self.tokens_per_step / num_ranks / self.tokens_per_micro_batch))

    def with_larger_step(self, factor: int) -> "Workload":
        """The same tokens in fewer and larger steps."""
        return replace(self, tokens_per_step=factor * self.tokens_per_step, num_steps=ceil(self.num_steps / factor))


def of(config: Config, manifest: Manifest | None, num_steps: int | None = None) -> Workload:
    """The work of a recipe; what nobody counted yet is assumed, and says so."""
    config.model.validate()
    assumptions = []
    if manifest is None:
        source_vocabulary = target_vocabulary = config.vocabulary.size
        source_length = target_length = ASSUMED_LENGTH
        assumptions.append(
            f"the corpus is not prepared: {config.vocabulary.size:,} pieces as in the recipe, "
            f"{ASSUMED_LENGTH:.0f} pieces a sentence assumed"
        )
    else:
        train = manifest.splits["train"]
        source_vocabulary = manifest.vocabularies["source"].size
        target_vocabulary = manifest.vocabularies["target"].size
        source_length = train.source_tokens / max(1, train.pairs)
        target_length = train.target_tokens / max(1, train.pairs)
    return Workload(
        model=config.model.sized(),
        source_vocabulary=source_vocabulary,
        target_vocabulary=target_vocabulary,
        source_length=source_length,
        target_length=target_length,
        tokens_per_step=config.batching.tokens_per_step,
        tokens_per_micro_batch=config.batching.tokens_per_micro_batch,
        num_steps=_num_steps(config, manifest, num_steps),
        precision=config.training.precision,
        has_muon=config.optimizer.kind_for(config.model) == "muon",
        has_average=config.optimizer.average_decay > 0,
        communication=config.communication.mode,
        max_step_factor=max(1, config.communication.max_tokens_per_step // config.batching.tokens_per_step),
        schedule=config.schedule,
        assumptions=tuple(assumptions),
    )


def _num_steps(config: Config, manifest: Manifest | None, wanted: int | None) -> int:
    """How long the recipe goes on at most, by whichever of its limits comes first."""
    if wanted is not None:
        if wanted < 1:
            raise UserError(f"--steps {wanted} makes no sense", "name 1 or more")
        return wanted
    training, tokens = config.training, config.batching.tokens_per_step
    limits = []
    if training.max_steps:
        limits.append(training.max_steps)
    if training.max_tokens:
        limits.append(ceil(training.max_tokens / tokens))
    if training.max_epochs and manifest is not None:
        limits.append(ceil(training.max_epochs * manifest.splits["train"].target_tokens / tokens))
    if not limits:
        raise UserError("the recipe sets no number of steps, so nobody knows when it ends", "name one with --steps")
    return min(limits)
