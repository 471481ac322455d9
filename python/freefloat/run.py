"""Runs: a scenario to its end, and what came of it."""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import warnings as _warnings
from collections.abc import Mapping as _Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _arguments, _library
from ._arguments import Floats, PathLike, arguments_of
from ._library import Calls, ffi, lib, text
from .errors import ArgumentError, CallbackError, FilesError, MethodError, RunError
from .parts import ContactLaw, Method, OnBoardSoftware, Parts, SensorLaw

if TYPE_CHECKING:
    _Arrays = Mapping[str, Floats]
    _Runs = Mapping[str, "Run"]
else:
    _Arrays = _Runs = _Mapping

#: what a contact has in summary.json, and `Run.contacts` where there is none
CONTACT = ("satellite", "name", "start_s", "end_s", "duration_s", "speed_before_mps", "speed_after_mps",
           "velocity_before_mps", "velocity_after_mps", "angular_velocity_after_radps", "peak_force_N",
           "peak_robot_force_N", "impulse_Ns", "restitution")


def _override(path: str, value: Any) -> str:
    """PATH=VALUE as --set takes it; a text is YAML as it stands."""
    value = _arguments.plain(value) if isinstance(value, (np.generic, os.PathLike)) else value
    return f"{path}={value if isinstance(value, str) else _arguments.as_json(f'set: {path}', value)}"


def _table(rows: list[dict[str, Any]], columns: Sequence[str] = ()) -> Any:
    """A pandas.DataFrame where pandas is installed, else the list; `columns`: those of an empty one."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=list(columns))


def _outside() -> int:
    """How far up the caller's own line is, for a warning."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(__name__.split(".")[0] + "."):
        level, frame = level + 1, frame.f_back
    return level


class Columns(_Arrays):
    """The columns of log.csv by name, without the unit: `columns["client.velocity.z"]` is a numpy array that looks into
    the run's own memory, without a copy, and cannot be written. `units` has the units."""

    def __init__(self, handle: "_Handle"):
        self._handle = handle
        self._index: dict[str, int] = {}
        self.units: dict[str, str] = {}
        self._pointer: list[Any] = []
        column = ffi.new("ffh_column *")
        for i in range(lib.ffh_columns(handle.sim)):
            lib.ffh_column_at(handle.sim, i, column)
            name = text(column.name)
            self._index[name] = i
            self.units[name] = text(column.unit)
            self._pointer.append(column.value)

    def _find(self, name: object) -> Optional[int]:
        """Of a column by its name, with or without its unit."""
        if not isinstance(name, str):
            return None
        return self._index.get(name, self._index.get(name[:name.index(" [")]) if " [" in name else None)

    def __getitem__(self, name: str) -> Floats:
        i = self._find(name)
        if i is None:
            import difflib
            near = difflib.get_close_matches(str(name), self._index, 3)
            raise KeyError(f"no column {name!r}" + (f"; near: {', '.join(near)}" if near else ""))
        if not self._pointer[i]:
            raise KeyError(f"column '{name}' was not recorded (record=)")
        # the view keeps the handle alive, whatever becomes of the run
        found: Floats = _library.view(self._pointer[i], lib.ffh_rows(self._handle.sim), self._handle)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for name, i in self._index.items() if self._pointer[i])

    def __len__(self) -> int:
        return sum(bool(p) for p in self._pointer)

    def __contains__(self, name: object) -> bool:
        i = self._find(name)
        return i is not None and bool(self._pointer[i])

    def __repr__(self) -> str:
        return f"<{len(self)} columns of {lib.ffh_rows(self._handle.sim)} rows: {', '.join(list(self)[:4])}, ...>"

    def frame(self) -> Any:
        """All of them as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame({name: self[name] for name in self})


class _Handle:
    """An open scenario: the C handle and all that it lends. Its arguments are those of `run` and `Simulation`."""

    def __init__(self, scenario: PathLike, method: Union[PathLike, Method, None] = None,
                 set: Optional[Mapping[str, Any]] = None, seed: Optional[int] = None, out: Optional[PathLike] = None, *,
                 text: Union[str, bytes, None] = None, log: Optional[str] = None, force: bool = False,
                 record: Union[Sequence[str], bool, None] = None, reference: bool = True,
                 contacts: Optional[Mapping[str, Union[ContactLaw, PathLike]]] = None,
                 sensors: Optional[Mapping[str, Union[SensorLaw, PathLike]]] = None,
                 obsw: Union[OnBoardSoftware, PathLike, None] = None,
                 progress: Optional[Callable[[float], Any]] = None, name: Optional[str] = None):
        self.path = _arguments.path("scenario", scenario)
        if self.path == "-":
            raise ArgumentError("the standard input cannot be a scenario here: read it and give its text")
        self.parts = parts = Parts()
        self.calls = Calls()
        self.keep: list[Any] = []
        sets = [_override(str(k), v) for k, v in _arguments.mapping("set", set).items()]
        if seed is not None:
            sets.append(f"time.seed={_arguments.whole('seed', seed, 0, 2**64 - 1)}")
        o = ffi.new("ffh_options *")
        if text is not None:
            data = bytes(text) if isinstance(text, (bytes, bytearray)) else _arguments.text("text", text)
            o.text, o.length = self._hold(ffi.from_buffer(data)), len(data)
        if callable(method):
            parts.method(method, name or name_of(method))
        elif isinstance(method, (str, bytes, os.PathLike)):
            o.method = self._text(_arguments.text("method", os.fsdecode(method)))
        elif method is not None:
            raise ArgumentError(f"method is {method!r}, allowed: a name, the path of a library or a function")
        if contacts:
            parts.contacts(_arguments.mapping("contacts", contacts))
        if sensors:
            parts.sensors(_arguments.mapping("sensors", sensors))
        if callable(obsw):
            parts.obsw(obsw)
        elif obsw is not None:
            library = _arguments.path("obsw", obsw)
            arm = _Handle(scenario, "direct", set, text=text, record=False).armed
            sets.append(f"satellites.{arm}.obsw=" + json.dumps({"kind": "shared", "library": library}))
        o.set, o.sets = self._list(_arguments.texts("set", sets)), len(sets)
        if record is not None and record is not True:
            patterns = _arguments.texts("record", record or [])
            if patterns:
                patterns.append(b"t")  # beside whatever is kept
            o.record, o.records = self._list(patterns), len(patterns)
        o.unjudged, o.force = not reference, bool(force)
        if out is not None:
            o.out = self._text(os.fsencode(_arguments.path("out", out)))
        if log is not None:
            o.log = self._text(_arguments.text("log", log))
        if parts.any:
            o.parts = parts.struct
        _arguments.function("progress", progress)

        def report(_user: Any, part: float) -> int:  # the place where Ctrl-C is seen
            return 0 if progress is not None and progress(part) is False else 1
        o.progress = self.calls.callback("int(void *, double)", report, 0)
        error = _library.new_error()
        sim = lib.ffh_open(os.fsencode(self.path), o, error)
        if not sim:
            raise _library.exception(error)
        self.sim = ffi.gc(sim, lib.ffh_close)
        self.warnings = _library.text(error.warning).splitlines()
        info = ffi.new("ffh_info *")
        lib.ffh_describe(self.sim, info)
        self.scenario, self.method, self.label = (_library.text(t) for t in (info.name, info.method, info.label))
        self.cycle, self.cycles = float(info.cycle), int(info.cycles)
        self.bodies = [_library.text(info.body[i]) for i in range(info.bodies)]
        parts.joints.append(int(info.joints))
        self.files = out is not None
        self.unended = False  #: begun, and not ended: a saved state can be restored

    @property
    def armed(self) -> str:
        """The satellite with an arm."""
        if not self.parts.joints[0]:
            raise ArgumentError(f"{self.path}: no satellite has an arm, so there is no on-board software")
        return next((b for b in self.bodies if f"{b}.joint.1.angle" in Columns(self)._index), self.bodies[0])

    def end(self, error: Any) -> int:
        """As `freefloat run` ends."""
        kind = int(lib.ffh_end(self.sim, error))
        if kind != _library.ARGUMENT:  # else it is in use, and goes on
            self.unended = False
        return kind

    def _hold(self, value: Any) -> Any:
        self.keep.append(value)
        return value

    def _text(self, value: bytes) -> Any:
        return self._hold(ffi.new("char[]", value))

    def _list(self, values: Sequence[bytes]) -> Any:
        return self._hold(ffi.new("char *[]", [self._text(v) for v in values] + [ffi.NULL]))

    def conclude(self, kind: int, error: Any, run: Optional["Run"]) -> None:
        """Raises what a finished call has to say; warnings are Python's."""
        for line in self.warnings + _library.text(error.warning).splitlines():
            _warnings.warn(line, RuntimeWarning, stacklevel=_outside())
        self.warnings = []
        for calls, what in ((self.calls, "progress"), (self.parts, "a part given as a Python function")):
            raised = calls.take()
            try:
                if isinstance(raised, Exception):
                    raise CallbackError(f"{self.scenario}: {what} raised {type(raised).__name__}: {raised}", run) from raised
                if raised is not None:  # Ctrl-C and others that are not to be held
                    raised.run = run  # type: ignore[attr-defined]
                    raise raised
            finally:
                del raised
        if kind != _library.OK:
            raise _library.exception(error, run)


class Run:
    """What came of a run.

    `columns`: of log.csv, by name; `summary`: summary.json as a dict; `contacts`; `verdict`; `plot()`; `report()`. In a
    notebook it shows the report.
    """

    def __init__(self, handle: _Handle):
        self._handle = handle
        self._columns: Optional[Columns] = None
        self._summary: Optional[dict[str, Any]] = None

    @property
    def scenario(self) -> str:
        """Name of the scenario."""
        return self._handle.scenario

    @property
    def method(self) -> str:
        """Name of the method."""
        return self._handle.method

    @property
    def label(self) -> str:
        """The method with settings of its own."""
        return self._handle.label

    @property
    def cycle(self) -> float:
        """[s]"""
        return self._handle.cycle

    @property
    def bodies(self) -> list[str]:
        """Names of the satellites."""
        return list(self._handle.bodies)

    def __reduce__(self) -> Any:
        raise TypeError("a Run holds memory of its library and cannot be copied or sent to another process: send its summary and "
                        "copies of its columns, or give out= and send its folder")

    @property
    def folder(self) -> Optional[str]:
        """Where its files are; None without `out`."""
        return os.fsdecode(ffi.string(lib.ffh_folder(self._handle.sim))) or None

    @property
    def columns(self) -> Columns:
        """Every column of log.csv by its name without the unit: numpy arrays without a copy."""
        if self._columns is None:
            self._columns = Columns(self._handle)
        return self._columns

    @property
    def t(self) -> Floats:
        """[s] of the rows."""
        return self.columns["t" if "t" in self.columns else "t_s"]

    @property
    def summary_text(self) -> str:
        """summary.json, byte for byte."""
        return text(lib.ffh_summary(self._handle.sim))

    @property
    def summary(self) -> dict[str, Any]:
        """summary.json; null is None. The dict is the caller's: what is changed in it stays changed (`summary_text` does not)."""
        if self._summary is None:
            self._summary = json.loads(self.summary_text) if self.summary_text else {}
        return self._summary

    @property
    def verdict(self) -> str:
        """"pass" or "fail"."""
        return str(self.summary.get("verdict", ""))

    @property
    def contacts(self) -> Any:
        """Every contact of every satellite, in order: a pandas.DataFrame where pandas is installed, else a list of
        dicts."""
        rows = [{"satellite": name, **contact} for name, satellite in self.summary.get("satellites", {}).items()
                for contact in satellite.get("contacts", [])]
        return _table(rows, CONTACT)

    def plot(self, columns: Union[str, Sequence[str], None] = None, axes: Any = None) -> Any:
        """Draws columns over time with matplotlib, those of one unit in one picture; without names each satellite's
        velocity beside the ideal one, and its measured force. Returns the axes."""
        from matplotlib import pyplot
        if columns is None:
            columns = [f"{body}.{what}.{axis}" for body in self.bodies
                       for what in ("velocity", "ideal.velocity", "force_measured") for axis in "xyz"]
            columns = [c for c in columns if c in self.columns]
        names = [columns] if isinstance(columns, str) else list(columns)
        if not names:
            raise ArgumentError("plot: there is no column to draw (record=)")
        units: dict[str, list[str]] = {}
        for name in names:
            self.columns[name]
            units.setdefault(self.columns.units.get(name.split(" [")[0], ""), []).append(name)
        if axes is None:
            _, axes = pyplot.subplots(len(units), 1, sharex=True, squeeze=False, figsize=(8, 2.4 * len(units) + 0.6))
            axes = axes[:, 0]
        axes = np.atleast_1d(axes)
        if len(axes) < len(units):
            raise ArgumentError(f"plot: {len(axes)} axes for columns of {len(units)} units, allowed: one for each")
        for ax, (unit, group) in zip(axes, units.items()):
            for name in group:
                ax.plot(self.t, self.columns[name], "--" if ".ideal." in name else "-", label=name, linewidth=1)
            ax.set_ylabel(unit)
            ax.legend(fontsize="small")
        axes[-1].set_xlabel("t [s]")
        axes[0].set_title(f"{self.scenario}, {self.label}")
        return axes

    def report(self, path: PathLike) -> str:
        """Writes report.html to this file; returns its path."""
        return _write_report([self], path)

    def _repr_html_(self) -> str:
        return _show_report([self])

    def __repr__(self) -> str:
        return f"<Run {self.scenario}, {self.label}: {self.verdict or 'no verdict'}, {lib.ffh_rows(self._handle.sim)} rows>"


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A folder that is gone afterwards."""
    try:
        folder = tempfile.mkdtemp(prefix="freefloat-")
    except OSError as error:
        raise FilesError(f"{error.filename}: a folder for a moment cannot be made ({error.strerror}); TMPDIR names its place") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make_report(runs: Sequence[Run], folder: str) -> str:
    error = _library.new_error()
    for r in runs:
        if r._handle.unended:
            r._handle.end(error)
    sims = ffi.new("ffh_sim *[]", [r._handle.sim for r in runs])
    _library.check(lib.ffh_report(sims, len(runs), os.fsencode(folder), error), error)
    return os.path.join(folder, "report.html")


def _write_report(runs: Sequence[Run], path: PathLike) -> str:
    where = _arguments.path("path", path)
    if os.path.isdir(where):
        return _make_report(runs, where)
    with scratch() as folder:
        made = _make_report(runs, folder)
        try:
            shutil.move(made, where)
        except OSError as error:
            raise FilesError(f"{where}: cannot be written ({error.strerror})") from None
    return where


def _show_report(runs: Sequence[Run]) -> str:
    import html
    with scratch() as folder:
        with open(_make_report(runs, folder), encoding="utf-8") as file:
            page = file.read()
    return f'<iframe style="width: 100%; height: 800px; border: 0" srcdoc="{html.escape(page, quote=True)}"></iframe>'


@arguments_of(_Handle)
def run(*arguments: Any, **options: Any) -> Run:
    """Runs a scenario on the virtual facility in virtual time, as `freefloat run` does, bit for bit.

    scenario   path of the file; with `text` what the text is called, and where its own files are looked for
    method     "ideal", "direct", "tdpa", ..., with settings "tdpa:reading=printed", the path of a library
               ("./mine.so"), or a function of a MethodCycle (slow); None: the file's
    set        overrides as of --set: {"satellites.client.mass": 300}
    seed       overrides time.seed
    out        folder for summary.json, report.html and the logs ("": out/NAME); None: no files
    log        csv, mcap, mcap-plain or none, separated by commas, where there is a folder
    force      also into a folder that is something else's
    record     patterns of the columns to keep (["client.*"], and t beside them); None: all; False: none
    reference  False: no ideal reference is solved, nothing is judged against it
    contacts   {name: law(depth, rate) -> force} in place of stiffness and damping; or the path of a library
    sensors    {satellite: sensor(t, wrench) -> reading}; or the path of a library
    obsw       on-board software as a function of an OnBoard; or the path of a library
    progress   called with the part that is done, a few hundred times; False stops the run
    name       of a method that is a function, in logs and reports

    Raises ScenarioError, MethodError, ArgumentError: nothing was begun; RunError with `.run`, the rows so far. Ctrl-C
    stops the run: KeyboardInterrupt, with `.run`, too.
    """
    handle = _Handle(*arguments, **options)
    error = _library.new_error()
    kind = lib.ffh_run(handle.sim, error)
    result = Run(handle)
    handle.conclude(kind, error, result)
    return result


class Comparison(_Runs):
    """Runs of one scenario by the label of their method, in order. In a notebook it shows the report."""

    def __init__(self, runs: Mapping[str, Run], refused: Mapping[str, str]):
        self._runs, self.refused = dict(runs), dict(refused)

    def __getitem__(self, label: str) -> Run:
        return self._runs[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def table(self) -> Any:
        """A row for each method and satellite: verdict, contacts, errors against the ideal. A pandas.DataFrame where
        pandas is installed, else a list of dicts."""
        rows = []
        for label, r in self._runs.items():
            for body, s in r.summary.get("satellites", {}).items():
                rows.append({"method": label, "satellite": body, "verdict": r.verdict, "contacts": len(s["contacts"]),
                             **(s.get("error_vs_ideal") or {}), "energy_J": s["final"]["kinetic_energy_J"]})
        return _table(rows)

    def report(self, path: PathLike) -> str:
        """Writes the report that compares them to this file."""
        return _write_report(list(self._runs.values()), path)

    def _repr_html_(self) -> str:
        return _show_report(list(self._runs.values()))

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(f'{k}: {r.verdict}' for k, r in self._runs.items())}>"


def name_of(method: Method) -> str:
    """What a function is called as a method."""
    return str(getattr(method, "__name__", "own")).strip("<>").replace(".", "-")


def compare(scenario: PathLike, methods: Union[str, Sequence[Union[PathLike, Method]]], **options: Any) -> Comparison:
    """The same scenario under several methods, as `freefloat compare`: names, variants ("tdpa:reading=printed"),
    libraries or functions. `options` are those of `run`. A method that cannot run the scenario is left out, and stands
    in `.refused` with its reason."""
    try:
        chosen: list[Union[PathLike, Method]] = []
        chosen += methods.split(",") if isinstance(methods, str) else methods
    except TypeError:
        raise ArgumentError(f"methods is {methods!r}, allowed: names with commas, or a list") from None
    if not chosen:
        raise ArgumentError("compare: no method was given")
    if options.get("out") is not None:
        raise ArgumentError("compare: out is one run's folder; report() writes the report of all")
    runs: dict[str, Run] = {}
    refused: dict[str, str] = {}
    for method in chosen:
        own = dict(options)
        if callable(method) and "name" not in options:  # two functions of one name are told apart
            name, count = name_of(method), 1
            while (name if count == 1 else f"{name}-{count}") in runs:
                count += 1
            own["name"] = name if count == 1 else f"{name}-{count}"
        try:
            r = run(scenario, method, **own)
        except MethodError as error:
            refused[method if isinstance(method, str) else own.get("name", str(method))] = str(error)
            continue
        except RunError as error:
            if error.run is None or isinstance(error, CallbackError):
                raise
            r = error.run
        if r.label in runs:
            raise ArgumentError(f"methods: '{r.label}' is given twice")
        runs[r.label] = r
    if not runs:
        raise MethodError("; ".join(refused.values()))
    return Comparison(runs, refused)
