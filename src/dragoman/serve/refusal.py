"""A request that is not answered as it was asked: a status and one sentence for the person or program that asked."""

from collections.abc import Mapping


class RefusedError(Exception):
    """Becomes `{"error": sentence}` with the status, as LibreTranslate's clients expect it."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = dict(headers or {})


def invalid(sentence: str) -> RefusedError:
    """The request says something that cannot be done as it is."""
    return RefusedError(400, f"Invalid request: {sentence}")


def too_large(sentence: str) -> RefusedError:
    """The request asks for more than one may."""
    return RefusedError(413, sentence)


def busy(retry_after_s: int) -> RefusedError:
    """Others were first."""
    return RefusedError(
        429, f"The server is busy; try again in {retry_after_s} s.", {"Retry-After": str(max(1, retry_after_s))}
    )
