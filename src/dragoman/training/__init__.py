"""Corpus and recipe in, a run out: one machine or many, exact and watched."""
