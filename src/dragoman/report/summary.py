"""The first screen: the verdict in a sentence, a few figures, and the three things to do next."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.core.units import count, duration
from dragoman.report.answers import UNDETERMINED, Advice, Answer, Tone, lost_to, money, percent, seconds
from dragoman.report.facts import Facts
from dragoman.report.questions.trained import LEANS

NUM_THINGS = 3


@dataclass(frozen=True)
class Figure:
    """A number that the first screen shows large."""

    label: str
    text: str


@dataclass(frozen=True)
class Summary:
    """What a person reads who reads nothing else."""

    sentence: str
    tone: Tone
    figures: tuple[Figure, ...]
    things: tuple[Advice, ...]


def summarise(facts: Facts, answers: Sequence[Answer]) -> Summary:
    """From the answers alone, with the figures of the facts."""
    by_key = {answer.key: answer for answer in answers}
    sentence, tone = _verdict(facts, by_key)
    return Summary(sentence, tone, _figures(facts, by_key), _things(facts, answers, by_key))


def _verdict(facts: Facts, answers: Mapping[str, Answer]) -> tuple[str, Tone]:
    where = f"after {count(facts.last_step)} steps" if facts.last_step else "so far"
    took = f" in {duration(facts.training_s)}" if facts.training_s else ""
    clauses, tone = [_learning(answers, f"{where}{took}")], answers["trained"].tone
    network, busy, failures = answers["network"], answers["busy"], answers["failures"]
    if network.tone == "bad":
        clauses.append(_network(network, facts))
        tone = "bad"
    elif busy.verdict.startswith("lost to") or busy.verdict in ("waiting", "throttled"):
        clauses.append(_busy(busy))
        tone = "bad"
    if failures.verdict == "crashed":
        clauses.append("the last session ended without a word")
        tone = "bad"
    text = "; ".join(clauses)
    return f"{text}.", tone


def _learning(answers: Mapping[str, Answer], where: str) -> str:
    divergence, overfit, trained = answers["divergence"], answers["overfit"], answers["trained"]
    if divergence.verdict == "yes":
        wasted = divergence.value("steps after the divergence") or 0
        return f"Training diverged: {count(int(wasted))} steps at the end bought nothing, {where}"
    if overfit.verdict == "yes":
        return f"The model has overfitted {where}"
    words = {
        "past its best": f"The model is past its best {where}",
        "converged": f"The model is fully trained for its schedule {where}",
        "improving": f"The model still improves {where}",
    }
    if trained.verdict in words:
        return words[trained.verdict]
    above = trained.value("probability that it is above 0.5 %")
    if above is not None and max(above, 1 - above) >= LEANS:
        leaning = "still improves" if above > 0.5 else "is fully trained for its schedule"
        return f"The model probably {leaning} {where}"
    return f"Whether the model is fully trained is undetermined {where}"


def _network(answer: Answer, facts: Facts) -> str:
    share = answer.value("exposed wait for the wire")
    if answer.verdict == "straggler":
        skew = answer.value("waiting for slower ranks")
        return f"{percent(skew or 0)} of every step waited for a slow rank"
    if answer.verdict == "uneven":
        return f"{percent(answer.value('waiting for slower ranks') or 0)} of every step ranks waited for one another"
    if share is None:
        return "the network was slow"
    kind = "; the link degraded on the way" if answer.verdict == "degraded" else ""
    return f"{percent(share)} of every step waited for the network{lost_to(share, facts)}{kind}"


def _busy(answer: Answer) -> str:
    useful = answer.value("useful computing")
    if useful is None:
        return "the machines waited more than they worked"
    return f"only {percent(useful)} of every step computed, {answer.verdict.removeprefix('lost to ')} took the most"


def _figures(facts: Facts, answers: Mapping[str, Answer]) -> tuple[Figure, ...]:
    figures = []
    if facts.last_step:
        figures.append(Figure("steps", count(facts.last_step)))
    if facts.training_s:
        figures.append(Figure("in training", duration(facts.training_s)))
    if (step := answers["step"].value("median step")) is not None:
        figures.append(Figure("a step", seconds(step)))
    if (tokens := answers["step"].value("target tokens a second")) is not None:
        figures.append(Figure("target tokens a second", count(round(tokens))))
    figures += _scores(facts)
    if (spent := answers["cost"].value("spent")) is not None:
        figures.append(Figure("spent", money(spent)))
    return tuple(figures)


def _scores(facts: Facts) -> list[Figure]:
    evaluations, figures = facts.evaluations, []
    if evaluations is None:
        return []
    if np.isfinite(evaluations.dev_loss).any():
        figures.append(Figure("lowest dev loss", f"{np.nanmin(evaluations.dev_loss):.3f}"))
    known = evaluations.bleu[np.isfinite(evaluations.bleu)]
    if len(known) and evaluations.bleu_kind == "free-running" and math.isfinite(known[-1]):
        figures.append(Figure("BLEU", f"{known[-1]:.1f}"))
    return figures


def _things(facts: Facts, answers: Sequence[Answer], by_key: Mapping[str, Answer]) -> tuple[Advice, ...]:
    """What would save most, first; then what would answer an open question."""
    found = sorted((advice for answer in answers for advice in answer.advice), key=lambda a: -a.saves_share)
    return tuple([*found, *_open_ends(facts, by_key)][:NUM_THINGS])


def _open_ends(facts: Facts, answers: Mapping[str, Answer]) -> list[Advice]:
    is_ours = facts.source.system == "Dragoman"
    found = []
    if answers["trained"].verdict == UNDETERMINED and not answers["trained"].numbers:
        command = "training.evaluate_every_steps" if is_ours else None
        found.append(
            Advice("Evaluate on held-out text at least six times after the warm-up.", "answers question 2", 0, command)
        )
    if answers["network"].verdict == UNDETERMINED and facts.settings.hosts != 1:
        found.append(Advice("Measure the link before the next run.", "answers questions 5 and 11", 0,
                            "dragoman check --hosts hosts.toml"))  # fmt: skip
    if answers["cost"].verdict == UNDETERMINED and not facts.settings.price_per_hour:
        found.append(Advice("Say what the machines cost an hour.", "puts a price on every answer", 0,
                            "training.price_per_hour" if is_ours else "--price"))  # fmt: skip
    if answers["trained"].verdict == "converged":
        found.append(Advice("Use it: more training of this kind buys little.", "a translator", 0,
                            "dragoman translate RUN" if is_ours else None))  # fmt: skip
    if answers["trained"].verdict == "improving" and is_ours:
        text = "Try what it has learned so far."
        found.append(Advice(text, "a first impression", 0, "dragoman translate RUN"))
    if answers["prediction"].verdict == UNDETERMINED and is_ours:
        found.append(
            Advice("Plan the next run before it starts.", "time and cost beforehand", 0, "dragoman plan RECIPE")
        )
    return found
