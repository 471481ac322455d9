"""What a caller gives, checked in one place: numbers, texts and paths for the library, or ArgumentError in one line."""
from __future__ import annotations

import functools
import inspect
import json
import math
import operator
import os
from collections.abc import Mapping as _Mapping
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union, get_type_hints

import numpy as np

from .errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing import Callable, Concatenate, ParamSpec, TypeVar
    Floats = NDArray[np.float64]
    P = ParamSpec("P")
    R = TypeVar("R")
else:
    Floats = np.ndarray

PathLike = Union[str, bytes, "os.PathLike[str]"]
#: what is taken where numbers are needed
Numbers = Union[Sequence[float], Sequence[Sequence[float]], Floats]


def arguments_of(kind: "Callable[P, Any]") -> "Callable[[Callable[..., R]], Callable[P, R]]":
    """Of a function that hands all its arguments on to the class `kind`: there alone they stand, for help() and for type
    checkers, too."""
    def decorate(function: "Callable[..., R]") -> "Callable[P, R]":
        own, taken = inspect.signature(function), inspect.signature(kind)
        this = [p for p in own.parameters.values() if p.name == "self"]
        whole = taken.replace(parameters=[*this, *taken.parameters.values()], return_annotation=own.return_annotation)
        name = function.__qualname__.replace(".__init__", "")

        @functools.wraps(function)
        def called(*arguments: Any, **options: Any) -> R:
            try:
                whole.bind(*arguments, **options)
            except TypeError as error:
                raise TypeError(f"{name}() {error}") from None
            return function(*arguments, **options)
        called.__signature__ = whole  # type: ignore[attr-defined]
        called.__annotations__ = {**get_type_hints(getattr(kind, "__init__")), "return": own.return_annotation}
        return called
    return decorate


def arguments_of_init(kind: "Callable[P, Any]") -> "Callable[[Callable[..., None]], Callable[Concatenate[Any, P], None]]":
    """The same of an __init__."""
    return arguments_of(kind)


def numbers(what: str, values: Any) -> Floats:
    """Finite real numbers, whatever they came as."""
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise ArgumentError(f"{what} has masked values in it, allowed: finite numbers")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what}: numbers are needed ({error})") from None
    if array.dtype.kind not in "fiu":
        raise ArgumentError(f"{what}: numbers are needed, not {array.dtype}")
    made = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    finite = np.isfinite(made)
    if not finite.all():
        raise ArgumentError(f"{what} has {made[~finite].flat[0]} in it, allowed: finite numbers")
    return made


def vector(what: str, values: Any, count: int) -> Floats:
    """`count` of them."""
    array = numbers(what, values)
    if array.shape != (count,):
        raise ArgumentError(f"{what} has shape {array.shape}, allowed: ({count},)")
    return array


def rows(what: str, values: Any, width: int, count: Optional[int] = None) -> tuple[Floats, bool]:
    """Of shape (n, width), and whether there was one row alone. count: so many, or one for all."""
    array = numbers(what, values)
    if array.ndim not in (1, 2) or array.shape[-1] != width:
        raise ArgumentError(f"{what} has shape {array.shape}, allowed: ({width},) or (n, {width})")
    single = array.ndim == 1
    array = np.atleast_2d(array)
    if count is not None and len(array) != count:
        if len(array) != 1:
            raise ArgumentError(f"{what} has {len(array)} rows, allowed: 1" + (f" or {count}" if count != 1 else ""))
        array = np.ascontiguousarray(np.broadcast_to(array, (count, width)))
    return array, single


def real(what: str, value: Any, allowed: str = "a finite number", least: float = -math.inf) -> float:
    """One finite number of at least `least`."""
    try:
        number = float(vector(what, [value], 1)[0])
    except ArgumentError:
        raise ArgumentError(f"{what} is {value!r}, allowed: {allowed}") from None
    if number < least:
        raise ArgumentError(f"{what} is {value!r}, allowed: {allowed}")
    return number


def whole(what: str, value: Any, least: int, most: int) -> int:
    """A whole number in these limits."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)) or not least <= number <= most:
        raise ArgumentError(f"{what} is {value!r}, allowed: a whole number from {least} to {most}")
    return number


def text(what: str, value: Any) -> bytes:
    """For the library: UTF-8 without a zero in it."""
    if not isinstance(value, str):
        raise ArgumentError(f"{what} is {value!r}, allowed: a text")
    if "\0" in value:
        raise ArgumentError(f"{what} is {value!r}, allowed: a text without a zero")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{what} is {value!r}: {error}") from None


def texts(what: str, values: Any) -> list[bytes]:
    """Several of them, or one."""
    try:
        return [text(what, value) for value in ([values] if isinstance(values, str) else values)]
    except TypeError:
        raise ArgumentError(f"{what} is {values!r}, allowed: a list of texts") from None


def path(what: str, value: Any) -> str:
    """Of a file or folder."""
    try:
        name = os.fsdecode(value)
    except TypeError:
        raise ArgumentError(f"{what} is {value!r}, allowed: a path") from None
    if "\0" in name:
        raise ArgumentError(f"{what} is {value!r}, allowed: a path without a zero")
    return name


def function(what: str, value: Any) -> Any:
    """A function, or None."""
    if value is not None and not callable(value):
        raise ArgumentError(f"{what} is {value!r}, allowed: a function")
    return value


def mapping(what: str, value: Any) -> Mapping[Any, Any]:
    """A dict, or None for an empty one."""
    if value is None:
        return {}
    if not isinstance(value, _Mapping):
        raise ArgumentError(f"{what} is {value!r}, allowed: a dict")
    return value


def plain(value: Any) -> Any:
    """A value of numpy's, or one with such in it, as JSON can write it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, _Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def as_json(what: str, value: Any) -> str:
    """The same as a text, which is YAML, too."""
    try:
        return json.dumps(plain(value), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        shown = "" if isinstance(error, RecursionError) else f" is {value!r}"
        raise ArgumentError(f"{what}{shown}: {error}") from None
