"""Which alphabet a language is written in, as far as a cleaning rule needs it.

Takes a language code and gives a pattern of letters that are foreign to it, or None for a language that is not
listed: an unknown language is not judged.
"""

import re

_SCRIPTS = {
    "latin": "A-Za-zªºÀ-ÖØ-öø-ɏḀ-ỿ",
    "greek": "Ͱ-Ͼἀ-῾",
    "cyrillic": "Ѐ-ԯ",
    "armenian": "Ա-և",
    "hebrew": "א-ת",
    "arabic": "ؠ-يٮ-ۓ",
    "devanagari": "ऄ-ह",
    "bengali": "অ-হ",
    "tamil": "அ-ஹ",
    "thai": "ก-ะ",
    "georgian": "ა-ჿ",
    "hangul": "가-힣ᄀ-ᇿ",
    "kana": "ぁ-ヿ",
    "han": "㐀-䶿一-鿿",
}

_LANGUAGES_OF_SCRIPTS = {
    ("latin",): "af az bs ca cs cy da de en eo es et eu fi fo fr fy ga gd gl hr hsb hu id is it la lb lt lv mi ms mt "
    "nb nl nn no oc pl pt rm ro sk sl so sq sv sw tl tr uz vi xh yo zu",
    ("cyrillic",): "be bg kk ky mk mn ru tg uk",
    ("cyrillic", "latin"): "sr",
    ("greek",): "el",
    ("armenian",): "hy",
    ("hebrew",): "he yi",
    ("arabic",): "ar fa ps ug ur",
    ("devanagari",): "hi mr ne",
    ("bengali",): "bn",
    ("tamil",): "ta",
    ("thai",): "th",
    ("georgian",): "ka",
    ("hangul", "han"): "ko",
    ("kana", "han"): "ja",
    ("han",): "zh",
}
_SCRIPTS_OF_LANGUAGE = {
    language: scripts for scripts, languages in _LANGUAGES_OF_SCRIPTS.items() for language in languages.split()
}


def foreign_letters(language: str) -> re.Pattern[str] | None:
    """A pattern of one letter that `language` ("de", "pt_BR", "zh-cn") is not written in."""
    own = _SCRIPTS_OF_LANGUAGE.get(re.split("[-_]", language.lower())[0])
    if own is None:
        return None
    return re.compile(f"[{''.join(letters for script, letters in _SCRIPTS.items() if script not in own)}]")
