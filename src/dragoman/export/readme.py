"""The model card for people: `README.md` of an exported model, from the card for programs."""

from dragoman.core.units import count
from dragoman.export.card import Check, ExportCard, TrainingData

PLAIN_USE = """\
```python
import ctranslate2, sentencepiece

source = sentencepiece.SentencePieceProcessor(model_file="vocab.source.model")
target = sentencepiece.SentencePieceProcessor(model_file="vocab.target.model")
model = ctranslate2.Translator(".")
pieces = source.encode("{example}", out_type=str)
result = model.translate_batch([pieces], beam_size={beam})[0]
print(target.decode(result.hypotheses[0]))
```"""
OWN_USE = """\
```sh
echo '{example}' | dragoman translate DIR
dragoman serve DIR
```

```python
from dragoman import Translator

print(Translator.open("DIR").translate(["{example}"]))
```"""
EXAMPLES = {
    "en": "Where is the train station?",
    "de": "Wo ist der Bahnhof?",
    "fr": "Où est la gare ?",
    "es": "¿Dónde está la estación?",
    "it": "Dov'è la stazione?",
}


def readme(card: ExportCard) -> str:
    """Markdown."""
    example = EXAMPLES.get(card.source_language, "…")
    sections = [
        f"# {card.name}: {card.source_language} → {card.target_language}",
        _what_it_is(card),
        "## Use\n\n" + OWN_USE.format(example=example),
        "It works wherever CTranslate2 works, without Dragoman:\n\n"
        + PLAIN_USE.format(example=example, beam=card.decoding.beam),
        "## How good it is\n\n" + _scores(card.check),
        "## What it learnt from\n\n" + _data(card.data),
        "## How it was made\n\n" + _settings(card),
    ]
    return "\n\n".join(sections) + "\n"


def _what_it_is(card: ExportCard) -> str:
    model = card.model
    steps = ", ".join(count(step) for step in card.steps)
    origin = "the mean of the checkpoints of steps" if len(card.steps) > 1 else "the checkpoint of step"
    return (
        f"A Transformer of {card.parameters:,} parameters ({model.encoder_layers} encoder and {model.decoder_layers}"
        f" decoder layers, width {model.width}), {origin} {steps}, for CTranslate2 in {card.quantization}."
    )


def _scores(check: Check | None) -> str:
    if check is None:
        return "Not checked."
    rows = [
        f"| {name} | {engine.bleu:.2f} ({engine.bleu_interval[0]:.2f}–{engine.bleu_interval[1]:.2f}) |"
        f" {engine.chrf:.2f} |"
        for name, engine in (("this model", check.exported), ("as it was trained", check.trained))
    ]
    return "\n".join(
        [
            f"On {check.num_sentences:,} sentences of {check.sentences}, with 95 % intervals:",
            "",
            "| | BLEU | chrF |",
            "|---|---|---|",
            *rows,
            "",
            f"`{check.bleu_signature}`  ",
            f"`{check.chrf_signature}`",
            "",
            f"Both give the same translation of {check.same_translations:.1%} of the sentences; by greedy search the"
            f" same pieces for {check.same_tokens:.1%}.",
        ]
    )


def _data(data: TrainingData | None) -> str:
    if data is None:
        return "Unknown: the corpus was no longer there when the model was exported."
    lines = ["| text | pairs | licence | source |", "|---|---|---|---|"]
    for text in data.texts:
        cells = (text.name, f"{text.pairs:,}", text.licence or "unknown", text.citation or "unknown")
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    total = f"{data.pairs:,} pairs, {data.target_tokens:,} target tokens; fingerprint `{data.fingerprint}`."
    return "\n".join([*lines, "", total])


def _settings(card: ExportCard) -> str:
    model, decoding = card.model, card.decoding
    rows = {
        "heads": model.heads,
        "feed-forward width": model.feed_forward,
        "norm": model.norm,
        "activation": model.activation,
        "tied embeddings": model.tied,
        "beam": decoding.beam,
        "length penalty": decoding.length_penalty,
        "exported": card.exported_at,
        **card.versions,
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())])
