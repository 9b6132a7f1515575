"""Texts with a structure: what of them is to be translated, and how they are put together again."""
