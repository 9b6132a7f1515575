"""Languages by their codes: English names, and which of them a text is written in.

Detection weighs a text against all languages it knows, not only against those that are loaded, so that the confidence
means something: French is not "English, for lack of anything else". Only languages that can be translated from are
named.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

_NAMES = """
af Afrikaans, am Amharic, ar Arabic, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali, bs Bosnian, ca Catalan,
cs Czech, cy Welsh, da Danish, de German, el Greek, en English, eo Esperanto, es Spanish, et Estonian, eu Basque,
fa Persian, fi Finnish, fr French, ga Irish, gl Galician, gu Gujarati, ha Hausa, he Hebrew, hi Hindi, hr Croatian,
hu Hungarian, hy Armenian, id Indonesian, is Icelandic, it Italian, ja Japanese, ka Georgian, kk Kazakh, km Khmer,
kn Kannada, ko Korean, ky Kyrgyz, la Latin, lb Luxembourgish, lo Lao, lt Lithuanian, lv Latvian, mk Macedonian,
ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, nb Norwegian Bokmål, ne Nepali, nl Dutch,
nn Norwegian Nynorsk, no Norwegian, pa Punjabi, pl Polish, ps Pashto, pt Portuguese, ro Romanian, ru Russian,
si Sinhala, sk Slovak, sl Slovenian, sq Albanian, sr Serbian, sv Swedish, sw Swahili, ta Tamil, te Telugu, th Thai,
tl Tagalog, tr Turkish, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, xh Xhosa, yi Yiddish, yo Yoruba, zh Chinese,
zu Zulu
"""
NAMES = dict(entry.strip().split(" ", 1) for entry in _NAMES.replace("\n", " ").split(","))
MOST_CHARACTERS = 2_000
"""Of a text, for detection: more would not make it surer."""
CLEARLY = 0.5
"""From here on a language that is not loaded is believed; a word or two is hardly ever so clear."""


@dataclass(frozen=True)
class Detected:
    """How likely a text is in a language, from 0 to 1."""

    language: str
    confidence: float


def base_of(code: str) -> str:
    """`pt` of `pt-br`."""
    return code.split("-")[0]


def name_of(code: str) -> str:
    """In English; the code itself where we have no name for it."""
    name = NAMES.get(base_of(code), code)
    return name if base_of(code) == code or name == code else f"{name} ({code})"


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def prepare() -> None:
    """Load what detection needs: a second that the first request need not wait."""
    _identifier()


def likelihoods(text: str) -> dict[str, float]:
    """How likely a text is in each of all languages; equally likely where it says nothing, as digits do."""
    return {language: float(share) for language, share in _identifier().rank(text[:MOST_CHARACTERS])}


def detect(text: str, codes: Sequence[str]) -> list[Detected]:
    """How likely a text is in each of some languages, the likeliest first; those that cannot be told are left out."""
    shares = likelihoods(text)
    found = [Detected(code, shares[base_of(code)]) for code in codes if base_of(code) in shares]
    return sorted(found, key=lambda each: (-each.confidence, each.language))


def foreign_language(text: str, codes: Sequence[str]) -> str | None:
    """The language that the text is clearly in although it is none of these; None if it may be one of them."""
    shares = likelihoods(text)
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= CLEARLY and best not in map(base_of, codes) else None
