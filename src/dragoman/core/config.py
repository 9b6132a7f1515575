"""Every setting, with its default, its bounds and what it means.

One frozen dataclass a section of the recipe. Nothing here reads files: `config_file` turns TOML into these. Derived
values are properties and are never stored.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeVar

from dragoman.core.errors import UserError

Value = TypeVar("Value")


@dataclass(frozen=True)
class Bounds:
    """What a setting may be, beside its type."""

    explanation: str
    at_least: float | None = None
    at_most: float | None = None
    multiple_of: int | None = None
    choices: tuple[str, ...] = ()


def setting(
    default: Value,
    explanation: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    multiple_of: int | None = None,
    choices: tuple[str, ...] = (),
) -> Value:
    """A dataclass field that explains itself; typed as its default, so that checkers see a plain value."""
    bounds = Bounds(explanation, at_least, at_most, multiple_of, choices)
    field: Any = dataclasses.field(default=default, metadata={"bounds": bounds})
    return field  # type: ignore[no-any-return]


def bounds_of(field: "dataclasses.Field[Any]") -> Bounds:
    """The bounds that `setting` recorded."""
    bounds = field.metadata["bounds"]
    assert isinstance(bounds, Bounds)
    return bounds


RULES = (
    "invalid_utf8",
    "empty_side",
    "control_characters",
    "too_long",
    "length_ratio",
    "identical_sides",
    "wrong_script",
    "few_letters",
    "different_numbers",
    "markup",
    "duplicate",
    "overlap",
    "too_many_pieces",
)
"""Why a pair may be dropped, in the order in which the rules are asked."""


@dataclass(frozen=True)
class TextConfig:
    """One corpus among those that are prepared together: a named data set, or files."""

    name: str = setting("", "what the reports call it; the data set's or the file's own name if left empty")
    dataset: str = setting("", "a named data set such as multi30k; `dragoman prepare --help` lists them")
    source: str = setting("", "source sentences; without a target file, a TSV of source, target and document")
    target: str = setting("", "the file of their translations, line by line")
    weight: float = setting(
        1.0, "how often each pair appears in an epoch; 0.5 takes every second", at_least=0.0, at_most=1000.0
    )


@dataclass(frozen=True)
class CorpusConfig:
    """What is prepared, and where it goes."""

    directory: str = setting("", "where the prepared corpus lies or will lie")
    languages: str = setting("en-de", "source and target language codes, such as en-de")
    seed: int = setting(1, "decides the shuffle and what is held out", at_least=0, at_most=2**63 - 1)
    texts: tuple[TextConfig, ...] = setting((), "the parallel texts to train on")

    @property
    def source_language(self) -> str:
        return self.languages.partition("-")[0]

    @property
    def target_language(self) -> str:
        return self.languages.partition("-")[2]


@dataclass(frozen=True)
class HeldOutConfig:
    """Pairs to measure on, never to train on: given as files, or split off from the training texts."""

    dev_source: str = setting("", "source side of a given dev set (or its TSV)")
    dev_target: str = setting("", "target side of a given dev set")
    test_source: str = setting("", "source side of a given test set (or its TSV)")
    test_target: str = setting("", "target side of a given test set")
    dev_pairs: int = setting(1000, "pairs to split off where no dev set is given", at_least=0)
    test_pairs: int = setting(1000, "pairs to split off where no test set is given", at_least=0)


@dataclass(frozen=True)
class CleaningConfig:
    """Which pairs are dropped. A pair is kept whole or dropped with a reason; nothing is cut."""

    switched_off: tuple[str, ...] = setting((), "rules that are not applied", choices=RULES)
    max_words: int = setting(150, "too_long: most words of a side", at_least=1)
    max_characters: int = setting(1500, "too_long: most characters of a side", at_least=1)
    max_length_ratio: float = setting(3.0, "length_ratio: most characters of a side for one of the other", at_least=1.0)
    min_letter_share: float = setting(
        0.5, "few_letters: least share of a side that is not digits or punctuation", at_least=0.0, at_most=1.0
    )
    max_pieces: int = setting(256, "too_many_pieces: most subword pieces of a side", at_least=1, at_most=65_000)


@dataclass(frozen=True)
class VocabularyConfig:
    """The subwords: trained here with SentencePiece, or an existing model."""

    kind: str = setting("bpe", "how subwords are found", choices=("bpe", "unigram"))
    size: int = setting(8192, "number of pieces", at_least=64, at_most=1_048_576, multiple_of=8)
    shared: bool = setting(True, "one vocabulary for both languages, or one a side")
    byte_fallback: bool = setting(True, "spell unknown characters in bytes instead of <unk>")
    sample_pairs: int = setting(500_000, "most pairs that subwords are trained on", at_least=1)
    model: str = setting("", "an existing SentencePiece model for both sides, used as it is")
    source_model: str = setting("", "an existing model for the source side")
    target_model: str = setting("", "an existing model for the target side")


PRESETS: dict[str, dict[str, int]] = {
    "tiny": {"width": 128, "feed_forward": 256, "heads": 4, "encoder_layers": 4, "decoder_layers": 4},
    "small": {"width": 256, "feed_forward": 1024, "heads": 4, "encoder_layers": 3, "decoder_layers": 3},
    "base": {"width": 512, "feed_forward": 2048, "heads": 8, "encoder_layers": 6, "decoder_layers": 6},
    "big": {"width": 1024, "feed_forward": 4096, "heads": 16, "encoder_layers": 6, "decoder_layers": 6},
}
"""The sizes that people name; `base` and `big` are those of Vaswani et al. 2017."""


@dataclass(frozen=True)
class ModelConfig:
    """The shape of the Transformer. A size of 0 is the preset's."""

    preset: str = setting("small", "the sizes to start from", choices=tuple(PRESETS))
    width: int = setting(0, "numbers in each token's vector", at_least=0, at_most=65_536)
    feed_forward: int = setting(0, "inner width of the feed-forward layers", at_least=0, at_most=262_144)
    heads: int = setting(0, "attention heads; they must divide the width", at_least=0, at_most=1_024)
    encoder_layers: int = setting(0, "layers that read the source", at_least=0, at_most=1_000)
    decoder_layers: int = setting(0, "layers that write the target", at_least=0, at_most=1_000)
    norm: str = setting("pre", "layer norm before each sub-layer, or after as in 2017", choices=("pre", "post"))
    activation: str = setting("relu", "inside the feed-forward layers", choices=("relu", "gelu", "swish"))
    tied: str = setting(
        "three",
        "which embeddings are one matrix: source, target and output; target and output; or none",
        choices=("three", "two", "none"),
    )
    dropout: float = setting(0.1, "share of each sub-layer's output that is dropped", at_least=0.0, at_most=0.9)
    attention_dropout: float = setting(0.0, "share of attention weights dropped", at_least=0.0, at_most=0.9)
    activation_dropout: float = setting(0.0, "share of feed-forward activations dropped", at_least=0.0, at_most=0.9)
    label_smoothing: float = setting(0.1, "probability spread evenly over the vocabulary", at_least=0.0, at_most=0.9)

    def sized(self) -> "ModelConfig":
        """The same model with every size written out."""
        sizes: dict[str, Any] = {name: getattr(self, name) or size for name, size in PRESETS[self.preset].items()}
        return dataclasses.replace(self, **sizes)

    def validate(self) -> None:
        """Refuse sizes that no Transformer can have together."""
        model = self.sized()
        if model.width % model.heads:
            raise UserError(f"model.heads = {model.heads:,} does not divide model.width = {model.width:,}")
        if model.width % 2:
            raise UserError(f"model.width = {model.width:,} is odd; positions need pairs of sine and cosine")


@dataclass(frozen=True)
class BatchingConfig:
    """How many tokens make a step."""

    tokens_per_step: int = setting(4096, "target tokens of one update, over all ranks", at_least=1, at_most=2**31)
    tokens_per_micro_batch: int = setting(2048, "most target tokens of one forward pass of a rank", at_least=1)


MUON_WIDTH = 256
"""The widest model that `auto` gives to Muon, whose multiplies do not shrink with the tokens of a step: at 4,096 they
are a fifth more for `small`, half as many more for `base`."""


@dataclass(frozen=True)
class OptimizerConfig:
    """How weights move."""

    kind: str = setting(
        "auto",
        "adamw decays weights apart from the gradient, adam does not; muon moves matrices in layers, adamw the rest;"
        " auto is muon for tiny and small, all widths to 256, else adamw",
        choices=("auto", "adam", "adamw", "muon"),
    )
    beta1: float = setting(0.9, "memory of the gradient", at_least=0.0, at_most=0.9999)
    beta2: float = setting(0.98, "memory of its square", at_least=0.0, at_most=0.999999)
    epsilon: float = setting(1e-9, "keeps small squares from dividing", at_least=0.0, at_most=1.0)
    weight_decay: float = setting(0.0, "share of each matrix that is taken away a step, times the rate", at_least=0.0)
    clip_norm: float = setting(1.0, "longest gradient; a longer one is shortened to it; 0 never", at_least=0.0)
    average_decay: float = setting(
        0.0, "decay of a running mean of the weights, less at first; 0 keeps none", at_least=0.0, at_most=0.99999
    )

    def kind_for(self, model: ModelConfig) -> str:
        """What `auto` is for a model. Muon learns more from a token, but its products grow with the width cubed."""
        if self.kind != "auto":
            return self.kind
        return "muon" if model.sized().width <= MUON_WIDTH else "adamw"

    def settled_for(self, model: ModelConfig) -> "OptimizerConfig":
        """The same with its kind written out, as a run keeps it."""
        return dataclasses.replace(self, kind=self.kind_for(model))


@dataclass(frozen=True)
class ScheduleConfig:
    """The learning rate over the steps, and dropout."""

    kind: str = setting(
        "transformer",
        "the curve after the warm-up: transformer is factor · width^-0.5 · step^-0.5, as in 2017; stable_decay falls in"
        " the last fifth",
        choices=("transformer", "inverse_sqrt", "cosine", "stable_decay"),
    )
    factor: float = setting(2.0, "transformer: multiplies the curve", at_least=0.0)
    peak: float = setting(1e-3, "the other kinds: the rate at the end of the warm-up", at_least=0.0)
    final: float = setting(0.0, "cosine and stable_decay: the rate at the last step", at_least=0.0)
    warmup_steps: int = setting(1000, "steps of linear rise", at_least=0)
    dropout_start: float = setting(
        1.0,
        "share of the model's dropout at the first step; it rises evenly to all of it at the last",
        at_least=0.0,
        at_most=1.0,
    )


@dataclass(frozen=True)
class TrainingConfig:
    """How long, how often, how exactly."""

    seed: int = setting(1, "decides initial weights, order of batches and dropout", at_least=0, at_most=2**62)
    max_steps: int = setting(10_000, "stop after this many updates; 0 is no limit", at_least=0)
    max_tokens: int = setting(0, "stop after this many target tokens; 0 is no limit", at_least=0)
    max_epochs: float = setting(0.0, "stop after so many passes over the corpus; 0 is no limit", at_least=0.0)
    max_hours: float = setting(0.0, "stop after so many hours of training; 0 is no limit", at_least=0.0)
    max_cost: float = setting(0.0, "stop when this much is spent; 0 is no limit", at_least=0.0)
    price_per_hour: float = setting(0.0, "what the machines cost together", at_least=0.0)
    min_gain: float = setting(
        0.0,
        "stop when a fifth more training would lower the loss by a smaller share; 0 never",
        at_least=0.0,
        at_most=1.0,
    )
    evaluate_every_steps: int = setting(1000, "updates between evaluations; 0 only at start and end", at_least=0)
    evaluate_every_minutes: float = setting(0.0, "minutes between evaluations; 0 is no limit", at_least=0.0)
    save_every_steps: int = setting(1000, "updates between checkpoints; 0 only at evaluations and end", at_least=0)
    save_every_minutes: float = setting(10.0, "minutes between checkpoints; 0 is no limit", at_least=0.0)
    keep_last: int = setting(3, "newest checkpoints kept", at_least=1)
    keep_best: int = setting(1, "best checkpoints kept, by dev loss and as many by BLEU", at_least=0)
    precision: str = setting("auto", "numbers of the forward pass", choices=("auto", "fp32", "bf16", "fp16"))


LOCAL_STEPS = (4, 16, 64)
"""Steps that a rank may make on its own between two exchanges."""


@dataclass(frozen=True)
class CommunicationConfig:
    """How gradients cross the wire between ranks."""

    mode: str = setting(
        "auto",
        "the rung of the ladder, fewer bytes the further down; auto takes the first that the measured link needs,"
        " but never local steps. Those begin after two warm-ups, K-fold steps once the rate is 1/√K of its peak",
        choices=(
            *("auto", "plain", "half", "two_level", "two_level_half", "eight_bits", "larger_step"),
            *(f"local_steps_{steps}" for steps in LOCAL_STEPS),
        ),
    )
    max_tokens_per_step: int = setting(
        0, "most target tokens of one update that a slow link may ask for; 0 is tokens_per_step", at_least=0
    )


@dataclass(frozen=True)
class DecodingConfig:
    """How translations are searched."""

    beam: int = setting(5, "hypotheses kept of each sentence; 1 is greedy", at_least=1, at_most=1_000)
    length_penalty: float = setting(
        1.0, "exponent of the length that a score is divided by", at_least=0.0, at_most=10.0
    )
    max_length_ratio: float = setting(2.0, "longest translation, in pieces of the source", at_least=0.1, at_most=100.0)
    max_length_extra: int = setting(10, "and so many pieces more", at_least=0, at_most=10_000)
    min_length: int = setting(0, "shortest translation in pieces", at_least=0, at_most=10_000)
    no_repeat_pieces: int = setting(0, "no run of so many pieces twice in a translation; 0 allows it", at_least=0)
    sentences_at_once: int = setting(64, "sentences decoded together", at_least=1, at_most=100_000)


@dataclass(frozen=True)
class Config:
    """A recipe: everything that a person can set."""

    corpus: CorpusConfig = dataclasses.field(default_factory=CorpusConfig)
    held_out: HeldOutConfig = dataclasses.field(default_factory=HeldOutConfig)
    cleaning: CleaningConfig = dataclasses.field(default_factory=CleaningConfig)
    vocabulary: VocabularyConfig = dataclasses.field(default_factory=VocabularyConfig)
    model: ModelConfig = dataclasses.field(default_factory=ModelConfig)
    batching: BatchingConfig = dataclasses.field(default_factory=BatchingConfig)
    optimizer: OptimizerConfig = dataclasses.field(default_factory=OptimizerConfig)
    schedule: ScheduleConfig = dataclasses.field(default_factory=ScheduleConfig)
    training: TrainingConfig = dataclasses.field(default_factory=TrainingConfig)
    communication: CommunicationConfig = dataclasses.field(default_factory=CommunicationConfig)
    decoding: DecodingConfig = dataclasses.field(default_factory=DecodingConfig)
