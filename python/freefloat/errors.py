"""What can go wrong, as exceptions: what the command prints as one line and an exit status."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from .run import Run


class FreefloatError(Exception):
    """Any of them. `str()` is the line that the command would print; `outcome` its exit status, 1 or 2."""

    outcome = 2


class ArgumentError(FreefloatError, ValueError):
    """A value given to a function is wrong: shape, type, range, name."""


class ScenarioError(FreefloatError, ValueError):
    """A scenario or campaign file, or an override, is refused; nothing was begun.

    `file`, `line` and `column` say where, if the mistake is in a file; else they are None.
    """

    def __init__(self, text: str, file: Optional[str] = None, line: Optional[int] = None,
                 column: Optional[int] = None):
        super().__init__(text)
        self.file, self.line, self.column = file, line, column


class MethodError(FreefloatError, ValueError):
    """No such method, a library that cannot be loaded, or a method that cannot run this scenario."""


class RunError(FreefloatError, RuntimeError):
    """A run began and did not succeed. `run` holds its rows and its summary as far as it came (None: nowhere)."""

    outcome = 1

    def __init__(self, text: str, run: Optional["Run"] = None):
        super().__init__(text)
        self.run = run


class CallbackError(RunError):
    """A part or `progress` raised, or a part (in C, too) answered with what is not finite: the exception is the cause
    (`__cause__`)."""


class FilesError(FreefloatError, OSError):
    """A folder or file cannot be written or read."""


class StateError(FreefloatError, RuntimeError):
    """A saved state is of another scenario or version, or a run has parts that cannot be copied."""


class LibraryError(FreefloatError, ImportError):
    """libfreefloat-host cannot be found or loaded, or is of another version than this package."""
