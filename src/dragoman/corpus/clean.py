"""Why a pair is dropped: `pair → reason or None`.

Each rule is a small pure function of a pair; `first_fault` asks those that are switched on, in order. A pair is kept
whole or dropped with a reason that somebody counts: nothing is ever cut or repaired here. Rules that need more than
the pair itself (duplicates, overlap with dev and test, number of pieces) are asked where that knowledge is.
"""

import re
from collections import Counter
from collections.abc import Callable

from dragoman.core.config import CleaningConfig
from dragoman.corpus.scripts import foreign_letters

Rule = Callable[[str, str], bool]
"""True if the pair is to be dropped."""

# C0 (tab among them), DEL, C1, line separators, byte-order marks, directional overrides, non-characters.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]")
# Digits, punctuation and symbols; the vowel signs of Hebrew, Arabic and the Indic scripts belong to their letters.
_NO_LETTER = re.compile(r"[\d_]|[^\w\s\u0300-\u036f\u0590-\u05ff\u0600-\u06ff\u0900-\u109f]")
_NO_ASCII_LETTER = bytes(code for code in range(256) if not chr(code).isascii() or not chr(code).isalpha())
_NO_ASCII_DIGIT = bytes(code for code in range(256) if code not in b"0123456789")
_NUMBER = re.compile(r"\d+")
_MARKUP = re.compile(
    r"</?[A-Za-z][A-Za-z0-9:]*(\s+[\w:-]+\s*=\s*[\"'][^<>]*|\s*)/?>"  # <b>, </p>, <a href="…">
    r"|&(?:[A-Za-z]{2,8}|#\d{2,6}|#x[0-9A-Fa-f]{2,5});"  # &amp; &#39;
    r"|\{\{|\}\}|\[\[|\]\]|\{\d+\}|%\([A-Za-z_]+\)[sd]"  # templates and placeholders
)
_SPELLED_OUT_AT_MOST = 100  # larger numbers are seldom words on one side and digits on the other
_LENGTH_ALLOWANCE = 10  # characters added to both lengths, so that "Ja." may be "Yes, of course."


def empty_side(source: str, target: str) -> bool:
    return not source or not target


def invalid_utf8(source: str, target: str) -> bool:
    """A side held broken bytes: our decoding, or somebody's before us, left the replacement character."""
    return "\ufffd" in source or "\ufffd" in target


def control_characters(source: str, target: str) -> bool:
    return _CONTROL.search(source) is not None or _CONTROL.search(target) is not None


def identical_sides(source: str, target: str) -> bool:
    return source == target


def too_long(max_words: int, max_characters: int) -> Rule:
    def rule(source: str, target: str) -> bool:
        return (
            source.count(" ") >= max_words
            or target.count(" ") >= max_words
            or len(source) > max_characters
            or len(target) > max_characters
        )

    return rule


def length_ratio(most: float) -> Rule:
    def rule(source: str, target: str) -> bool:
        one, other = len(source) + _LENGTH_ALLOWANCE, len(target) + _LENGTH_ALLOWANCE
        return one > most * other or other > most * one

    return rule


def wrong_script(source_language: str, target_language: str) -> Rule:
    """More than half of the letters of a side are foreign to its language."""
    patterns = foreign_letters(source_language), foreign_letters(target_language)

    def is_foreign(text: str, foreign: re.Pattern[str] | None) -> bool:
        if foreign is None or not foreign.search(text):
            return False
        return 2 * len(foreign.findall(text)) > sum(map(str.isalpha, text))

    def rule(source: str, target: str) -> bool:
        return is_foreign(source, patterns[0]) or is_foreign(target, patterns[1])

    return rule


def few_letters(least_share: float) -> Rule:
    """A side is mostly digits, punctuation and symbols."""

    def is_poor(text: str) -> bool:
        num_written = len(text) - text.count(" ")
        # Counting ASCII letters is twenty times as fast and settles it for most text in Latin script.
        if len(text.encode().translate(None, _NO_ASCII_LETTER)) >= least_share * num_written:
            return False
        return num_written - len(_NO_LETTER.findall(text)) < least_share * num_written

    def rule(source: str, target: str) -> bool:
        return is_poor(source) or is_poor(target)

    return rule


def different_numbers(source: str, target: str) -> bool:
    """The sides do not hold the same numbers; small ones may be spelled out on one side."""
    # The quick look settles most pairs, and 1,000 beside 1000 and 1 000.
    if source.encode().translate(None, _NO_ASCII_DIGIT) == target.encode().translate(None, _NO_ASCII_DIGIT):
        return False
    ours, theirs = _numbers(source), _numbers(target)
    times = Counter(ours)
    times.subtract(theirs)
    surplus = {number: surplus for number, surplus in times.items() if surplus}
    is_one_sided = not surplus or min(surplus.values()) > 0 or max(surplus.values()) < 0
    return not is_one_sided or any(len(number) > 3 or int(number) > _SPELLED_OUT_AT_MOST for number in surplus)


def _numbers(text: str) -> list[str]:
    """Its runs of digits, in Western digits and without leading zeros."""
    return [str(int(digits)) if len(digits) < 100 else digits for digits in _NUMBER.findall(text)]


def markup(source: str, target: str) -> bool:
    return _MARKUP.search(source) is not None or _MARKUP.search(target) is not None


def rules(config: CleaningConfig, source_language: str, target_language: str) -> dict[str, Rule]:
    """The rules that are switched on, by name, in the order in which they are asked."""
    every: dict[str, Rule] = {
        "invalid_utf8": invalid_utf8,
        "empty_side": empty_side,
        "control_characters": control_characters,
        "too_long": too_long(config.max_words, config.max_characters),
        "length_ratio": length_ratio(config.max_length_ratio),
        "identical_sides": identical_sides,
        "wrong_script": wrong_script(source_language, target_language),
        "few_letters": few_letters(config.min_letter_share),
        "different_numbers": different_numbers,
        "markup": markup,
    }
    return {name: rule for name, rule in every.items() if name not in config.switched_off}


def first_fault(source: str, target: str, asked: dict[str, Rule]) -> str | None:
    """The name of the first rule that drops the pair, or None if it is kept."""
    for name, rule in asked.items():
        if rule(source, target):
            return name
    return None


_NO_ASCII_LETTER_OR_DIGIT = bytes(code for code in range(128) if not chr(code).isalnum())


def essence(sentence: str) -> str:
    """What two sentences must share to count as one when training text is kept apart from dev and test.

    Case, spaces and ASCII punctuation do not count.
    """
    return sentence.casefold().encode().translate(None, _NO_ASCII_LETTER_OR_DIGIT).decode() or sentence
