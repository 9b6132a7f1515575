"""Training state on disk: written whole or not at all, checked when read, kept while it is of use."""
