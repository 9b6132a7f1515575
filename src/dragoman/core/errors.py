"""Errors that the user can mend.

A `UserError` is one sentence that says what is wrong, and where one exists, the command that mends it.
The command line prints it without a traceback and exits with code 2. Everything else is a bug and exits with 1.
"""


class UserError(Exception):
    """What is wrong, in one sentence; `fix` is the command or the change that mends it."""

    def __init__(self, problem: str, fix: str | None = None) -> None:
        super().__init__(problem if fix is None else f"{problem}; {fix}")
        self.problem = problem
        self.fix = fix
