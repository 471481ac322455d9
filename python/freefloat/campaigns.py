"""Campaigns: sweeps over threads, and their tables as arrays."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping as _Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Union

from . import _arguments, _library
from ._arguments import Floats, PathLike
from ._library import ffi, lib, text
from .errors import ArgumentError, RunError
from .run import scratch

if TYPE_CHECKING:
    _Arrays = Mapping[str, Floats]
else:
    _Arrays = _Mapping


class Campaign(_Arrays):
    """The table of a campaign: `campaign["satellites.client.robot.delay"]` is (samples,), a metric is
    (samples, methods). `methods`, `varied`, `metrics`, `units`, `summary`; NaN where a run has no value."""

    def __init__(self, handle: Any):
        self._campaign = campaign = ffi.gc(handle, lib.ffh_campaign_close)
        info = ffi.new("ffh_campaign_info *")
        lib.ffh_campaign_describe(campaign, info)
        self.name, self.folder = text(info.name), text(info.folder)
        self.summary: dict[str, Any] = json.loads(text(info.summary)) if info.summary else {}
        self.samples = int(info.samples)
        self.methods = [text(lib.ffh_campaign_method(campaign, m)) for m in range(info.methods)]
        self.units: dict[str, str] = {}
        self._columns: dict[str, Floats] = {}
        name, unit = ffi.new("char **"), ffi.new("char **")
        for c in range(info.varied + info.metrics):
            values = lib.ffh_campaign_column(campaign, c, name, unit)
            shape = (self.samples,) if c < info.varied else (self.samples, info.methods)
            count = self.samples * (1 if c < info.varied else info.methods)
            self._columns[text(name[0])] = _library.view(values, count, campaign).reshape(shape)
            self.units[text(name[0])] = text(unit[0])
        self.varied, self.metrics = list(self._columns)[:info.varied], list(self._columns)[info.varied:]

    def __getitem__(self, name: str) -> Floats:
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
        return self[metric][:, self.methods.index(method)]

    def __repr__(self) -> str:
        return (f"<Campaign {self.name}: {self.samples} samples, {', '.join(self.methods)}; varied "
                f"{', '.join(self.varied)}; metrics {', '.join(self.metrics)}>")


def campaign(file: Union[PathLike, Mapping[str, Any]], out: Optional[PathLike] = None, threads: int = 0,
             force: bool = False, progress: Optional[Callable[[float], Any]] = None) -> Campaign:
    """Runs a campaign over threads, as `freefloat campaign`, with the same bits, and returns its table.

    file      path of the campaign file, or the same as a dict (docs/campaigns.md), `base` from the working folder
    out       folder for results.csv, maps and report, where a campaign that was stopped is continued ("": out/NAME);
              None: nothing is kept
    threads   0: one for each core
    progress  called with the part that is done, a few times a second; False stops it

    Ctrl-C stops it, too; with a folder what is done is kept there, and the same call continues.
    """
    _arguments.function("progress", progress)
    calls = _library.Calls()

    def report(_user: Any, part: float) -> int:
        return 0 if progress is not None and progress(part) is False else 1
    with scratch() as place:
        if isinstance(file, Mapping):
            text_ = _arguments.plain(file)
            for key in ("base", "scenario"):
                if key in text_:
                    text_[key] = os.path.abspath(_arguments.path(key, text_[key]))
            path = os.path.join(place, "campaign.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(_arguments.as_json("campaign", text_))
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
        if raised is not None:
            raise raised
        if not handle:
            raise RunError(text(error.text)) if error.kind == _library.STOPPED else _library.exception(error)
        result = Campaign(handle)
        if out is None:
            result.folder = ""
        return result
