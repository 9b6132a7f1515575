"""How big things were: training set and checkpoint, questions 7, 8 and 9; and the quality of the data."""

from dragoman.core.units import counted, share, size
from dragoman.report.answers import UNDETERMINED, Advice, Answer, Bar, Bars, Number, percent
from dragoman.report.facts import Checkpoint, CorpusFacts, Facts

EXACT = 0.01
FILES = {
    "model.safetensors": "the weights: all that translating needs",
    "optimizer.safetensors": "the optimizer's moments: only for going on with the training",
    "state.json": "where the run is: step, tokens, scores",
    "SHA256SUMS": "hashes of the others",
}
SET_RULE = "Bytes and lines of the text files as they were read; pairs and tokens as they are trained on."
FILES_RULE = "The files of the newest checkpoint on disk."
SIZE_RULE = (
    "Bytes on disk against parameters × bytes of each: 12 for weights and two moments of Adam in 32 bits, 8 for those "
    "that Muon moves; 14 where half-precision weights are kept beside them, 4 more with a running mean of the weights; "
    "2 more a rank where 8 bits cross the wire, for what rounding lost; with local steps as much more a rank as its "
    "moments take, and 4 for a common one."
)
QUALITY_RULE = "Pairs are kept whole or dropped with a reason that is counted; nothing is cut in silence."


def how_big_was_the_training_set(facts: Facts) -> Answer:
    """Question 7."""
    question, corpus = "How big was the training set?", facts.corpus
    sizes = [file.bytes for file in corpus.files if file.bytes is not None] if corpus else []
    if corpus is None or (not sizes and corpus.train_pairs is None):
        named = f" The log names {', '.join(f.name for f in corpus.files)}." if corpus and corpus.files else ""
        why = f"Undetermined: the size of the training text is not recorded.{named}"
        return Answer("data", 7, question, UNDETERMINED, why, "unknown", rule=SET_RULE)
    total = sum(sizes)
    lines = [file.lines for file in corpus.files if file.lines is not None]
    numbers = [Number("text", total, "B", f"{size(total)} ({total / 2**20:,.1f} MiB)")] if sizes else []
    if lines:
        numbers.append(Number("lines", sum(lines), "lines", f"{sum(lines):,}"))
    for name, value in (("pairs trained on", corpus.train_pairs), ("source tokens", corpus.source_tokens),
                        ("target tokens", corpus.target_tokens)):  # fmt: skip
        if value is not None:
            numbers.append(Number(name, value, name.split()[0], f"{value:,}"))
    evidence = [
        f"{file.name}: {size(file.bytes) if file.bytes is not None else 'unknown size'}"
        + (f", {file.lines:,} lines" if file.lines is not None else "")
        for file in corpus.files[:12]
    ]
    parts = [size(total)] if sizes else []
    parts += [counted(corpus.train_pairs, "pair")] if corpus.train_pairs is not None else []
    tokens = f", {corpus.target_tokens:,} target tokens" if corpus.target_tokens else ""
    epochs = _epochs(facts, corpus)
    return Answer("data", 7, question, "known", f"{', '.join(parts)}{tokens}{epochs}.", "neutral", tuple(numbers),
                  tuple(evidence), SET_RULE, shown=parts[0])  # fmt: skip


def _epochs(facts: Facts, corpus: CorpusFacts) -> str:
    tokens, steps = facts.settings.tokens_per_step, facts.last_step
    if not tokens or not steps or not corpus.target_tokens:
        return ""
    return f"; the run saw it {tokens * steps / corpus.target_tokens:.2g} times"


def which_files_make_a_checkpoint(facts: Facts) -> Answer:
    """Question 8."""
    question, newest = "Which files make a checkpoint?", _newest(facts)
    if newest is None:
        why = "Undetermined: no files of a checkpoint are there to look at."
        return Answer("files", 8, question, UNDETERMINED, why, "unknown", evidence=_interval(facts), rule=FILES_RULE,
                      advice=_interval_advice(facts))  # fmt: skip
    evidence = [
        f"{file.name}: {size(file.bytes)}" + (f", {FILES[file.name]}" if file.name in FILES else "")
        for file in newest.files
    ]
    names = ", ".join(file.name for file in newest.files)
    steps = ", ".join(f"{checkpoint.step:,}" for checkpoint in facts.checkpoints[-8:])
    evidence += [f"On disk: steps {steps}.", *_interval(facts)]
    return Answer("files", 8, question, "known", f"{len(newest.files)} files: {names}.", "neutral", (),
                  tuple(evidence), FILES_RULE,
                  advice=_interval_advice(facts), shown=f"{len(newest.files)} files")  # fmt: skip


def _newest(facts: Facts) -> Checkpoint | None:
    """The newest that training can go on from: the one of step 0 has no moments yet."""
    return next((one for one in reversed(facts.checkpoints) if one.files), None)


def _never_comes(facts: Facts) -> bool:
    every, last = facts.settings.checkpoint_every_steps, facts.last_step
    return bool(every and last and every > last and not facts.settings.checkpoint_every_minutes)


def _interval(facts: Facts) -> tuple[str, ...]:
    every, last = facts.settings.checkpoint_every_steps, facts.last_step
    if not every:
        return ()
    if _never_comes(facts):
        return (
            f"The interval of {every:,} steps is longer than the run's {last:,}: but for checkpoints made at "
            "evaluations, a crash would have lost everything.",
        )
    return (f"One every {every:,} steps.",)


def _interval_advice(facts: Facts) -> tuple[Advice, ...]:
    if not _never_comes(facts):
        return ()
    return (Advice(f"Save more often than every {facts.settings.checkpoint_every_steps:,} steps: every ten to twenty "
                   "minutes costs about one percent.", "a crash then costs minutes, not the run", 0.15),)  # fmt: skip


def how_big_is_a_checkpoint(facts: Facts) -> Answer:
    """Question 9."""
    question, newest = "How big is a checkpoint?", _newest(facts)
    settings = facts.settings
    on_disk = newest.bytes if newest else facts.claims.checkpoint_bytes
    predicted = None
    if settings.parameters and settings.checkpoint_bytes_per_parameter:
        predicted = settings.parameters * settings.checkpoint_bytes_per_parameter
    numbers = []
    if on_disk is not None:
        numbers.append(Number("on disk", on_disk, "B", f"{size(on_disk)} ({on_disk / 2**20:,.1f} MiB)"))
    if predicted is not None:
        numbers.append(Number("by theory", predicted, "B", f"{size(predicted)} ({predicted / 2**20:,.1f} MiB)"))
    if settings.parameters:
        numbers.append(Number("parameters", settings.parameters, "", f"{settings.parameters:,}"))
    theory = (
        f"{settings.parameters:,} parameters × {settings.checkpoint_bytes_per_parameter:g} bytes" if predicted else ""
    )
    if on_disk is None:
        if predicted is None:
            why = "Undetermined: no checkpoint is there, and the number of parameters is unknown."
            return Answer("checkpoint", 9, question, UNDETERMINED, why, "unknown", rule=SIZE_RULE)
        return Answer("checkpoint", 9, question, "by theory", f"{size(predicted)} by theory: {theory}.", "neutral",
                      tuple(numbers), (), SIZE_RULE, shown=f"{size(predicted)} by theory")  # fmt: skip
    evidence = [f"By theory {size(predicted)}: {theory}."] if predicted else []
    verdict, fit = "known", ""
    if predicted:
        if abs(on_disk / predicted - 1) <= EXACT:
            fit = f", as {theory} say"
        else:
            verdict = "not as theory says"
            evidence += _other_reading(on_disk, settings.parameters or 0)
    total = sum(one.bytes or 0 for one in facts.checkpoints)
    if len(facts.checkpoints) > 1 and total:
        evidence.append(f"All {len(facts.checkpoints)} on disk together: {size(total)}.")
    return Answer("checkpoint", 9, question, verdict, f"{size(on_disk)}{fit}.", "neutral", tuple(numbers),
                  tuple(evidence), SIZE_RULE, shown=size(on_disk))  # fmt: skip


def _other_reading(on_disk: int, parameters: int) -> list[str]:
    """What else the number might be."""
    for each, meaning in ((4, "the weights alone"), (12, "weights and moments in 32 bits"),
                          (14, "weights, moments and half-precision weights")):  # fmt: skip
        for unit, name in ((1, ""), (2**20 / 1e6, " if MB were MiB")):
            if parameters and abs(on_disk * unit / (parameters * each) - 1) <= EXACT:
                return [f"It fits {meaning}{name}: {parameters:,} × {each} bytes."]
    if parameters and on_disk < 100_000:
        return ["So few bytes are a directory entry or an index, not the weights."]
    if parameters:
        return [f"That is {on_disk / parameters:.1f} bytes a parameter: several checkpoints, or other files with them."]
    return []


def was_the_data_clean(facts: Facts) -> Answer:
    """The quality of the data, as far as it was counted."""
    question, corpus = "Was the data clean?", facts.corpus
    evidence = []
    if facts.settings.cuts_long_pairs:
        evidence.append(
            f"Sides longer than {facts.settings.max_pieces} pieces were cut, each on its own: such pairs no longer "
            "translate each other."
        )
    evidence += [remark for remark in facts.source.remarks if "pairs" in remark]
    if corpus is None or corpus.dropped is None or not corpus.pairs_read:
        verdict = "cut" if evidence else UNDETERMINED
        sentence = evidence[0] if evidence else "Undetermined: nobody counted what was dropped, cut or kept."
        return Answer("quality", None, question, verdict, sentence, "bad" if evidence else "unknown",
                      evidence=tuple(evidence[1:]), rule=QUALITY_RULE)  # fmt: skip
    dropped = sum(corpus.dropped.values())
    bars = tuple(
        Bar(rule.replace("_", " "), (("pairs", float(number)),), f"{number:,} ({share(number, corpus.pairs_read)})")
        for rule, number in list(corpus.dropped.items())[:13]
    )
    number = Number("dropped", dropped / corpus.pairs_read, "share", percent(dropped / corpus.pairs_read))
    sentence = (
        f"{dropped:,} of {corpus.pairs_read:,} pairs ({share(dropped, corpus.pairs_read)}) were dropped by rules; the "
        "rest was kept whole."
    )
    if not dropped:
        sentence = f"All {corpus.pairs_read:,} pairs passed the rules; none was dropped and none was cut."
    chart = Bars("Dropped pairs by rule", "pairs", bars) if bars else None
    return Answer(
        "quality", None, question, "cleaned", sentence, "good", (number,), tuple(evidence), QUALITY_RULE, chart
    )
