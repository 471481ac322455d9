"""Campaigns: sweeps over threads, and their tables as arrays."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping as _Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np

from . import _arguments, _library
from ._arguments import Floats, PathLike
from ._library import ffi, lib, text
from .errors import ArgumentError, CallbackError, FreefloatError, RunError, ScenarioError
from .run import scratch

if TYPE_CHECKING:
    _Arrays = Mapping[str, Any]
else:
    _Arrays = _Mapping


def _word(value: str) -> str:
    """Without the quotes that a word has where the campaign was a dict."""
    quoted = len(value) > 1 and value[0] == value[-1] == "'"
    return value[1:-1].replace("''", "'") if quoted else value


class Campaign(_Arrays):
    """The table of a campaign: `campaign["satellites.client.robot.delay"]` is (samples,), a metric is
    (samples, methods). `methods`, `varied`, `metrics`, `units`, `summary`; NaN where a run has no value. What is varied over
    words or lists is an array of texts, as results.csv has them."""

    def __init__(self, handle: Any):
        self._campaign = campaign = ffi.gc(handle, lib.ffh_campaign_close)
        info = ffi.new("ffh_campaign_info *")
        lib.ffh_campaign_describe(campaign, info)
        self.name, self.folder = text(info.name), text(info.folder)
        self.summary: dict[str, Any] = json.loads(text(info.summary)) if info.summary else {}
        self.samples = int(info.samples)
        self.methods = [text(lib.ffh_campaign_method(campaign, m)) for m in range(info.methods)]
        self.units: dict[str, str] = {}
        self._columns: dict[str, Any] = {}
        name, unit = ffi.new("char **"), ffi.new("char **")
        for c in range(info.varied + info.metrics):
            values = lib.ffh_campaign_column(campaign, c, name, unit)
            shape = (self.samples,) if c < info.varied else (self.samples, info.methods)
            count = self.samples * (1 if c < info.varied else info.methods)
            if c < info.varied and self.samples and lib.ffh_campaign_text(campaign, c, 0):
                words = np.array([_word(text(lib.ffh_campaign_text(campaign, c, s))) for s in range(self.samples)], dtype=object)
                words.flags.writeable = False
                self._columns[text(name[0])] = words
            else:
                self._columns[text(name[0])] = _library.view(values, count, campaign).reshape(shape)
            self.units[text(name[0])] = text(unit[0])
        self.varied, self.metrics = list(self._columns)[:info.varied], list(self._columns)[info.varied:]

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            raise KeyError(f"no column {name!r}, allowed: {', '.join(self._columns)}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def of(self, metric: str, method: str) -> Floats:
        """A metric under one method, (samples,)."""
        if method not in self.methods or metric not in self.metrics:
            raise ArgumentError(f"no metric {metric!r} under {method!r}, allowed: {', '.join(self.metrics)} under "
                                f"{', '.join(self.methods)}")
        found: Floats = self[metric][:, self.methods.index(method)]
        return found

    def __repr__(self) -> str:
        return (f"<Campaign {self.name}: {self.samples} samples, {', '.join(self.methods)}; varied "
                f"{', '.join(self.varied)}; metrics {', '.join(self.metrics)}>")


def _lines(value: Any, path: str, end: str, to: list[tuple[str, str]], head: str = "") -> None:
    """A value as JSON, each entry of a map in a line of its own, beside the path of its key."""
    if not isinstance(value, dict) or not value:
        to.append((head + _arguments.as_json(f"campaign: {path}" if path else "campaign", value) + end, path))
        return
    to.append((head + "{", path))
    for i, (key, below) in enumerate(value.items()):
        name = str(key)
        _lines(below, f"{path}.{name}" if path else name, "," if i + 1 < len(value) else "", to,
               _arguments.as_json("campaign", name) + ": ")
    to.append(("}" + end, path))


def _in_dict(error: Exception, file: str, lines: list[tuple[str, str]]) -> Exception:
    """A mistake in a campaign that was given as a dict: the key in place of the line of a file that is gone."""
    if not isinstance(error, FreefloatError) or file not in str(error):
        return error

    def key(found: "re.Match[str]") -> str:
        line = int(found.group(1) or 0)
        path = lines[line - 1][1] if 0 < line <= len(lines) else ""
        return "campaign" + (f", {path}" if path else "") + (":" if found.group(1) else "")
    said = re.sub(re.escape(file) + r"(?::(\d+)(?::\d+)?:)?", key, str(error))
    return ScenarioError(said) if isinstance(error, ScenarioError) else type(error)(said)


def campaign(file: Union[PathLike, Mapping[str, Any]], out: Optional[PathLike] = None, threads: int = 0,
             force: bool = False, progress: Optional[Callable[[float], Any]] = None) -> Campaign:
    """Runs a campaign over threads, as `freefloat campaign`, with the same bits, and returns its table.

    file      path of the campaign file, or the same as a dict (docs/campaigns.md), `base` from the working folder
    out       folder for results.csv, maps and report, where a campaign that was stopped is continued ("": out/NAME);
              None: nothing is kept
    threads   0: one for each core
    progress  called with the part that is done, a few times a second; False stops it

    Ctrl-C stops it, too; with a folder what is done is kept there, and the same call continues. What `progress` raises is the
    cause of a CallbackError.
    """
    _arguments.function("progress", progress)
    calls = _library.Calls()

    def report(_user: Any, part: float) -> int:
        return 0 if progress is not None and progress(part) is False else 1
    lines: list[tuple[str, str]] = []
    with scratch() as place:
        if isinstance(file, Mapping):
            text_ = _arguments.plain(file)
            for key in ("base", "scenario"):
                if key in text_:
                    text_[key] = os.path.abspath(_arguments.path(key, text_[key]))
            path = os.path.join(place, "campaign.yaml")
            with open(path, "w", encoding="utf-8") as f:
                _lines(text_, "", "", lines)
                f.write("\n".join(line for line, _ in lines) + "\n")
        else:
            path = _arguments.path("campaign", file)
        o = ffi.new("ffh_campaign_options *")
        folder = ffi.new("char[]", os.fsencode(os.path.join(place, "out") if out is None
                                               else _arguments.path("out", out)))
        o.out, o.force = folder, bool(force)
        o.progress = calls.callback("int(void *, double)", report, 0)
        o.threads = _arguments.whole("threads", threads, 0, 4096)
        error = _library.new_error()
        handle = lib.ffh_campaign_run(os.fsencode(path), o, error)
        raised = calls.take()
        try:
            if isinstance(raised, Exception):
                raise CallbackError(f"campaign: progress raised {type(raised).__name__}: {raised}") from raised
            if raised is not None:  # Ctrl-C and others that are not to be held
                raise raised
        finally:
            del raised
        if not handle and error.kind == _library.STOPPED:
            raise RunError(text(error.text) if out is not None else "the campaign was stopped; without out= nothing of it is kept")
        if not handle:
            raise _in_dict(_library.exception(error), path, lines) if lines else _library.exception(error)
        result = Campaign(handle)
        if out is None:
            result.folder = ""
        return result
