"""The public data sets that can be had by name: what they are called, where their files lie, and what is in them.

Pure data. A hash is None where none is published; then the first download's is held (see `download.py`). The hashes
and member paths of WMT are those of TensorFlow Datasets (url_checksums/wmt16_translate.txt and wmt.py), the ones of
Multi30k were taken from its files, and IWSLT follows fairseq's prepare-iwslt14.sh.
Knows nothing of how a file is downloaded, unpacked or converted.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import BinaryIO

from dragoman.corpus.markup import plain_lines, sgm_segments, talk_lines, xml_segments


@dataclass(frozen=True)
class Download:
    """One file of a data set."""

    url: str
    sha256: str | None
    max_bytes: int
    holds: str
    """How the paths of its members begin."""

    @property
    def base_name(self) -> str:
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class Text:
    """One corpus of a data set, as it lies in the archives."""

    name: str
    split: str
    members: Mapping[str, tuple[str, ...]]
    """By language: the archive members that make this side, one after the other."""
    lines: Callable[[BinaryIO], Iterator[bytes]] = plain_lines
    has_line: Callable[[int], bool] = lambda number: True
    """Which of the lines, counted from 1, belong to this text."""


@dataclass(frozen=True)
class DataSet:
    """Everything about one data set that is downloaded from its own address."""

    name: str
    languages: frozenset[str]
    licence: str
    citation: str
    downloads: tuple[Download, ...]
    texts: tuple[Text, ...]


def _sides(*members: str) -> Mapping[str, tuple[str, ...]]:
    """Members for German and English; `{language}` and `{role}` (src is German) stand for what differs."""
    roles = (("de", "src"), ("en", "ref"))
    return MappingProxyType({de: tuple(m.format(language=de, role=role) for m in members) for de, role in roles})


GERMAN_ENGLISH = frozenset(("de", "en"))

_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"

MULTI30K = DataSet(
    name="multi30k",
    languages=GERMAN_ENGLISH,
    licence="no licence stated; descriptions of Flickr30k pictures, for non-commercial research",
    citation="Elliott, Frank, Sima'an and Specia (2016): Multi30K: Multilingual English-German Image Descriptions",
    downloads=tuple(
        Download(_MULTI30K + name, sha256, max_bytes=4 << 20, holds=name.removesuffix(".gz"))
        for name, sha256 in {
            "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
            "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
            "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
            "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
            "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
            "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
        }.items()
    ),
    texts=(
        Text("train", "train", _sides("train.{language}")),
        Text("val", "dev", _sides("val.{language}")),
        Text("test_2016_flickr", "test", _sides("test_2016_flickr.{language}")),
    ),
)

_TALKS = _sides("de-en/train.tags.de-en.{language}")

IWSLT14 = DataSet(
    name="iwslt14",
    languages=GERMAN_ENGLISH,
    licence="CC BY-NC-ND 4.0 (TED talks, collected by WIT3)",
    citation="Cettolo, Niehues, Stüker, Bentivogli and Federico (2014): Report on the 11th IWSLT Evaluation Campaign",
    downloads=(
        Download(
            "https://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz",
            sha256=None,
            max_bytes=64 << 20,
            holds="de-en/",
        ),
    ),
    texts=(
        # The usual dev set: every 23rd line. fairseq counts after its length filter, so its lines are not quite these.
        Text("train", "train", _TALKS, talk_lines, has_line=lambda number: number % 23 != 0),
        Text("dev", "dev", _TALKS, talk_lines, has_line=lambda number: number % 23 == 0),
        # The usual test set: five campaigns' sets as one text.
        Text(
            "test",
            "test",
            _sides(
                "de-en/IWSLT14.TED.dev2010.de-en.{language}.xml",
                "de-en/IWSLT14.TEDX.dev2012.de-en.{language}.xml",
                "de-en/IWSLT14.TED.tst2010.de-en.{language}.xml",
                "de-en/IWSLT14.TED.tst2011.de-en.{language}.xml",
                "de-en/IWSLT14.TED.tst2012.de-en.{language}.xml",
            ),
            xml_segments,
        ),
    ),
)

WMT16 = DataSet(
    name="wmt16",
    languages=GERMAN_ENGLISH,
    licence="free for research; see statmt.org/wmt16/translation-task.html and statmt.org/europarl",
    citation="Bojar et al. (2016): Findings of the 2016 Conference on Machine Translation",
    downloads=(
        Download(
            "https://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
            sha256="0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
            max_bytes=657_632_379,
            holds="training/",
        ),
        Download(
            "https://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
            sha256="c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
            max_bytes=918_311_367,
            holds="commoncrawl.",
        ),
        Download(
            "https://data.statmt.org/wmt16/translation-task/training-parallel-nc-v11.tgz",
            sha256="cfe8ab047e05043476e498ee765c98e939c7b7d6d294e856344c84476b619d6a",
            max_bytes=75_178_032,
            holds="training-parallel-nc-v11/",
        ),
        Download(
            "https://data.statmt.org/wmt19/translation-task/dev.tgz",
            sha256="7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
            max_bytes=38_654_961,
            holds="dev/",
        ),
    ),
    texts=(
        Text("europarl-v7", "train", _sides("training/europarl-v7.de-en.{language}")),
        Text("commoncrawl", "train", _sides("commoncrawl.de-en.{language}")),
        Text("news-commentary-v11", "train", _sides("training-parallel-nc-v11/news-commentary-v11.de-en.{language}")),
        Text("newstest2013", "dev", _sides("dev/newstest2013.{language}")),
        # The one that published scores are on; its sentences are the same in both directions.
        Text("newstest2014", "test", _sides("dev/newstest2014-deen-{role}.{language}.sgm"), sgm_segments),
    ),
)

CATALOGUE = MappingProxyType({data_set.name: data_set for data_set in (MULTI30K, IWSLT14, WMT16)})
