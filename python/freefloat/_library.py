"""libfreefloat-host: where it is, that it is the one this package was made for, and its errors as exceptions."""
from __future__ import annotations

import os
from typing import Any, Callable, Optional

import numpy as np

from . import errors
from ._host import ffi as ffi

ABI = 1  #: of freefloat_host.h that this package was made for
NAME = "libfreefloat-host.so.1"


def _candidates() -> list[str]:
    named = os.environ.get("FREEFLOAT_HOST_LIBRARY")
    if named:
        return [named]
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native", NAME)
    return [here, NAME]


def _load() -> Any:
    why = ""
    for path in _candidates():
        if os.sep in path and not os.path.exists(path):
            why = why or f"{path} is not there"
            continue
        try:
            found = ffi.dlopen(path)
        except OSError as error:
            why = str(error)
            continue
        try:
            abi = found.ffh_abi()
        except (AttributeError, ffi.error):
            raise errors.LibraryError(f"{path} is not libfreefloat-host: it has no ffh_abi") from None
        if abi != ABI:
            raise errors.LibraryError(f"{path} has ABI {abi}, this package needs {ABI}: install both of one version")
        return found
    raise errors.LibraryError(
        f"libfreefloat-host cannot be loaded: {why}. `make python` builds it; FREEFLOAT_HOST_LIBRARY names another one")


lib = _load()
version: str = ffi.string(lib.ffh_version()).decode()

OK, ARGUMENT, SCENARIO, METHOD, RUN, STOPPED, FILES, MEMORY, STATE, PART = range(10)
_PLAIN = {ARGUMENT: errors.ArgumentError, METHOD: errors.MethodError, FILES: errors.FilesError,
          STATE: errors.StateError}


def text(pointer: Any) -> str:
    """A C string; "" for NULL."""
    return str(ffi.string(pointer), "utf-8", "replace") if pointer else ""


def view(pointer: Any, count: int, owner: Any = None) -> Any:
    """`count` doubles of the library's memory as an array without a copy, which cannot be written; it keeps `owner` alive."""
    if not count:
        return np.empty(0)
    kept = ffi.gc(ffi.cast("double *", pointer), lambda _p, _owner=owner: None)
    return np.frombuffer(memoryview(ffi.buffer(kept, 8 * count)).toreadonly(), dtype=np.float64)


class Calls:
    """Functions of Python's that the library calls, and what was raised in one of them: by itself, by what it answered, or by
    Ctrl-C before its first line. It refers to nothing that refers to it, so that a run goes when its last name does."""

    def __init__(self) -> None:
        self._raised: list[BaseException] = []
        self.keep: list[Any] = []

    def callback(self, kind: str, function: Callable[..., Any], failed: Any) -> Any:
        """As C calls it; `failed` is what C is told where it raises."""
        raised = self._raised

        def note(_kind: Any, value: BaseException, traceback: Any) -> None:
            raised.append(value.with_traceback(traceback))
        made = ffi.callback(kind, function, error=failed, onerror=note)
        self.keep.append(made)
        return made

    def take(self) -> Optional[BaseException]:
        """What was raised first, once; one that is to end the program comes before."""
        raised = sorted(self._raised, key=lambda e: isinstance(e, Exception))
        self._raised.clear()
        return raised[0] if raised else None


def new_error() -> Any:
    return ffi.new("ffh_error *")


def exception(error: Any, run: Optional[Any] = None) -> Exception:
    """The exception that a filled ffh_error stands for."""
    line = text(error.text) or "it failed without a reason"
    if error.kind == SCENARIO:
        return errors.ScenarioError(line, text(error.file) or None, error.line or None, error.column or None)
    if error.kind == MEMORY:
        return MemoryError(line)
    if error.kind in _PLAIN:
        return _PLAIN[error.kind](line)
    if error.kind == PART:
        failed = errors.CallbackError(line, run)
        failed.__cause__ = errors.ArgumentError(line)
        return failed
    return errors.RunError(line, run)


def check(kind: int, error: Any) -> None:
    if kind != OK:
        raise exception(error)
