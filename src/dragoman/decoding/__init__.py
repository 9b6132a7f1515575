"""Sentences in, translations and scores out."""
