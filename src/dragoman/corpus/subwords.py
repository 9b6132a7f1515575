"""The vocabularies of a corpus: trained on a fair sample of its words, or taken as they are."""

from collections import Counter
from pathlib import Path

from dragoman.core.config import VocabularyConfig
from dragoman.core.errors import UserError
from dragoman.corpus.encoding import SamplingJob, sample_words
from dragoman.corpus.site import Site
from dragoman.corpus.vocab import Vocabulary, train


def make_vocabularies(site: Site) -> tuple[Path, Path]:
    """Train the subwords, or take the existing ones; the models of both sides, which may be one file."""
    config, paths = site.config.vocabulary, site.paths
    if config.model:
        paths.vocabulary(None).write_bytes(Path(config.model).read_bytes())
        return paths.vocabulary(None), paths.vocabulary(None)
    if config.source_model:
        paths.vocabulary("source").write_bytes(Path(config.source_model).read_bytes())
        paths.vocabulary("target").write_bytes(Path(config.target_model).read_bytes())
        return paths.vocabulary("source"), paths.vocabulary("target")
    source_words, target_words = _count_words(site)
    with site.progress.stage("training subwords", total=None, unit="pieces"):
        if config.shared:
            both = source_words + target_words
            paths.vocabulary(None).write_bytes(train(both, config, site.config.corpus.languages))
            return paths.vocabulary(None), paths.vocabulary(None)
        for side, words, language in (
            ("source", source_words, site.config.corpus.source_language),
            ("target", target_words, site.config.corpus.target_language),
        ):
            paths.vocabulary(side).write_bytes(train(words, config, language))
    return paths.vocabulary("source"), paths.vocabulary("target")


def check_existing_models(config: VocabularyConfig) -> None:
    """Refuse at once what could only fail later: a model that is missing, or none."""
    if bool(config.source_model) != bool(config.target_model):
        raise UserError("one side has an existing vocabulary, the other has none", "set both, or vocabulary.model")
    for path in filter(None, (config.model, config.source_model, config.target_model)):
        Vocabulary(Path(path))


def _count_words(site: Site) -> tuple[Counter[str], Counter[str]]:
    """The words of the first `sample_pairs` pairs of the shuffle: a fair sample."""
    wanted = min(site.config.vocabulary.sample_pairs, site.num_records)
    share = wanted / site.num_records
    groups = site.groups[: max(1, -(-len(site.groups) * wanted // site.num_records))]
    source_words: Counter[str] = Counter()
    target_words: Counter[str] = Counter()
    most_of_each = -(-wanted // len(groups)) if share < 1 else site.num_records
    with site.progress.stage("counting words", total=wanted, unit="pairs") as bar:
        jobs = (SamplingJob(site.runs, buckets, site.unseen, most_of_each) for buckets in groups)
        for sources, targets, num_pairs in site.workers.map(sample_words, jobs):
            source_words.update(sources)
            target_words.update(targets)
            bar.advance(num_pairs, pairs=num_pairs)
    return source_words, target_words
