"""A translation model behind HTTP: the LibreTranslate interface, and a page for people."""
