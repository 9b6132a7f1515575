"""All constructions. Importing this package registers them, in the order of these imports."""

from dragoman.corpus.phrasebook.constructions import (
    clauses,
    describing,
    directions,
    hotel,
    infinitives,
    negation_and_modals,
    people,
    phrases,
    possession_and_place,
    questions,
    shopping,
    statements,
    times,
    travel,
)

__all__ = [
    "clauses",
    "describing",
    "directions",
    "hotel",
    "infinitives",
    "negation_and_modals",
    "people",
    "phrases",
    "possession_and_place",
    "questions",
    "shopping",
    "statements",
    "times",
    "travel",
]
