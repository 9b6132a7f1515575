"""What a user reads when something is wrong."""

from dragoman.core.errors import UserError


def test_an_error_is_its_problem() -> None:
    error = UserError("there is no recipe tea.toml")
    assert str(error) == "there is no recipe tea.toml"
    assert error.problem == "there is no recipe tea.toml"
    assert error.fix is None


def test_an_error_with_a_fix_says_both() -> None:
    error = UserError("the corpus is not there", "run `dragoman prepare` first")
    assert str(error) == "the corpus is not there; run `dragoman prepare` first"
    assert (error.problem, error.fix) == ("the corpus is not there", "run `dragoman prepare` first")
