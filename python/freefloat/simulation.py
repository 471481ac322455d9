"""A run cycle by cycle: read, act, save, restore."""
from __future__ import annotations

import json
import math
import threading
from typing import Any, NoReturn, Optional, Union

import numpy as np

from . import _arguments, _library
from ._arguments import Floats, Numbers, arguments_of_init
from ._library import ffi, lib
from .errors import ArgumentError, StateError
from .run import Columns, Run, _Handle


class State:
    """The whole state of a Simulation between two cycles: `restore` it as often as wanted, also into another
    Simulation of the same scenario and options. Valid for this build of the library.
    `data` are its bytes: State(data) is the same one; `k` and `t` only say where it was saved."""

    __slots__ = ("data", "k", "t")

    def __init__(self, data: bytes, k: int = 0, t: float = 0.0):
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise StateError(f"the bytes of a State are needed, not {type(data).__name__}")
        self.data, self.k, self.t = bytes(data), int(k), float(t)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<State at cycle {self.k}, {self.t:g} s: {len(self.data)} bytes>"


class Simulation:
    """A scenario that is run cycle by cycle.

        sim = ff.Simulation("scenarios/deos-client.yaml", method="tdpa")
        while sim.step():
            if sim["client.in_contact"]:
                sim.push("client", force=[1, 0, 0])
        r = sim.finish()

    The arguments are those of `run`. `record=False` keeps no rows: then steps are fastest and saved states small.
    `reference=False` spares the ideal reference, which is solved before the first step.
    """

    @arguments_of_init(_Handle)
    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._handle = handle = _Handle(*arguments, **options)
        self._sim = handle.sim
        self._one = lib.ffh_cycle
        self._run: Optional[Run] = None
        self._failed: Optional[BaseException] = None
        self._last = False  # the last cycle is done
        self._reading = threading.Lock()
        error = _library.new_error()
        kind = lib.ffh_begin(handle.sim, error)
        handle.conclude(kind, error, None)
        handle.unended = True
        self._columns = Columns(handle)
        self._index = self._columns._index
        column = ffi.new("ffh_column *")
        lib.ffh_column_at(handle.sim, 0, column)
        #: the newest row, one number for each column (see `names`): an array that each step writes; before the first NaN
        self.row: Floats = _library.view(column.now, len(self._index), handle)

    @property
    def scenario(self) -> str:
        """Name of the scenario."""
        return self._handle.scenario

    @property
    def method(self) -> str:
        """Name of the method."""
        return self._handle.method

    @property
    def cycle(self) -> float:
        """[s]"""
        return self._handle.cycle

    @property
    def cycles(self) -> int:
        """Of the whole run."""
        return self._handle.cycles

    @property
    def bodies(self) -> list[str]:
        """Names of the satellites."""
        return list(self._handle.bodies)

    @property
    def ended(self) -> bool:
        """The run has ended."""
        return self._last or self._run is not None or self._failed is not None

    @property
    def names(self) -> list[str]:
        """Of the columns, in the order of `row`."""
        return list(self._index)

    @property
    def k(self) -> int:
        """Cycles done."""
        if len(self._columns):
            return int(lib.ffh_rows(self._sim))
        return round(float(self.row[0]) / self.cycle) + 1 if self._begun else 0

    @property
    def _begun(self) -> bool:
        return not math.isnan(self.row[0])

    @property
    def t(self) -> float:
        """[s] of the newest row; 0 before the first."""
        return float(self.row[0]) if self._begun else 0.0

    @property
    def columns(self) -> Columns:
        """What was recorded so far."""
        return self._columns

    def index(self, name: str) -> int:
        """Where a column stands in `row`."""
        i = self._columns._find(name)
        if i is None:
            self._columns[name]  # says what is near
            raise KeyError(name)
        return i

    def __getitem__(self, name: str) -> float:
        value = float(self.row[self.index(name)])
        if value != value and not self._begun:
            raise ArgumentError(f"'{name}' has no value before the first cycle: step() first")
        return value

    def step(self) -> bool:
        """One cycle. True: it was done, and `row` is of it; False: the run has ended. Raises what ended it."""
        done = self._one(self._sim)
        return True if done > 0 else self._conclude(done)

    def advance(self, cycles: int) -> int:
        """Up to so many cycles in one call; how many were done."""
        cycles = _arguments.whole("cycles", cycles, 0, 2**63 - 1)
        done = int(lib.ffh_step(self._sim, cycles))
        if done < cycles:
            self._conclude(done)
        return done

    def _conclude(self, done: int) -> bool:
        if done < 0:
            raise ArgumentError(f"{self._handle.path}: it is in use, by another thread or by a part that is called")
        if self._failed is not None:
            raise self._failed
        if not self._handle.unended:
            return False
        error = _library.new_error()
        kind = lib.ffh_failure(self._sim, error)
        if kind == _library.OK:
            self._last = True
            if self._handle.files:
                self.finish()
        else:
            if self._handle.files:
                kind = self._handle.end(error)
            self._settle(kind, error)
        return False

    def finish(self) -> Run:
        """Ends the run where it stands, as `freefloat run` would at its end, and returns what came of it. A run that is
        not at its end is one that was stopped: its verdict is fail."""
        if self._failed is not None:
            raise self._failed
        if self._run is None:
            error = _library.new_error()
            kind = self._handle.end(error)
            if kind == _library.ARGUMENT:  # in use: it goes on
                raise _library.exception(error)
            self._run = self._settle(_library.OK if kind == _library.STOPPED else kind, error)
        return self._run

    def _settle(self, kind: int, error: Any) -> Run:
        run = Run(self._handle)
        try:
            self._handle.conclude(kind, error, run)
        except BaseException as failed:
            self._failed = failed
            raise
        return run

    @property
    def summary(self) -> dict[str, Any]:
        """summary.json of what was done so far, as if no more had been asked for. Another thread than the one that advances gets
        an ArgumentError while a cycle is under way."""
        with self._reading:  # the text is the library's until the next call
            now = _library.text(lib.ffh_summary(self._sim))
        if not now:
            self._conclude(-1)
        return dict(json.loads(now))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Simulation holds memory of its library and cannot be copied or sent to another process: open it "
                        "there, and send the State that save() returns")

    # ------------------------------------------------------------------------------------------------ acting

    def _body(self, body: Union[str, int]) -> int:
        if isinstance(body, str) and body in self._handle.bodies:
            return self._handle.bodies.index(body)
        if isinstance(body, (int, np.integer)) and 0 <= body < len(self._handle.bodies):
            return int(body)
        raise ArgumentError(f"no satellite {body!r}, allowed: {', '.join(self._handle.bodies)}")

    def _wrench(self, call: Any, body: Union[str, int], force: Numbers, torque: Numbers) -> None:
        f = np.concatenate([_arguments.vector("force", force, 3), _arguments.vector("torque", torque, 3)])
        error = _library.new_error()
        _library.check(call(self._sim, self._body(body), ffi.from_buffer("double[]", f), error), error)

    def load(self, body: Union[str, int], force: Numbers = (0, 0, 0), torque: Numbers = (0, 0, 0)) -> None:
        """A load on the satellite beside the scenario's, from the next cycle on until it is set again: force [N]
        inertial, torque [N m] in body axes."""
        self._wrench(lib.ffh_load, body, force, torque)

    def push(self, body: Union[str, int], force: Numbers = (0, 0, 0), torque: Numbers = (0, 0, 0)) -> None:
        """A hand on the mock-up, from the next cycle on until it is set again: a wrench about the centre of mass in the
        robot's body axes that the sensor feels beside the contacts'."""
        self._wrench(lib.ffh_push, body, force, torque)

    def command(self, body: Union[str, int], position: Optional[Numbers] = None, attitude: Numbers = (1, 0, 0, 0),
                velocity: Numbers = (0, 0, 0), angular_velocity: Numbers = (0, 0, 0)) -> None:
        """What the robot is sent in place of the loop's command, from the next cycle on, in the robots' frame. Without
        a position: the loop's again."""
        error = _library.new_error()
        if position is None:
            pointer = ffi.NULL
        else:
            m = np.concatenate([_arguments.vector("position", position, 3), _arguments.vector("attitude", attitude, 4),
                                _arguments.vector("velocity", velocity, 3), _arguments.vector("angular_velocity", angular_velocity, 3)])
            pointer = ffi.from_buffer("double[]", m)
        _library.check(lib.ffh_command(self._sim, self._body(body), pointer, error), error)

    # ------------------------------------------------------------------------------------------------- state

    def save(self) -> State:
        """The whole state: loop, plant, random numbers, judgement, recorded rows. A Python part is saved as far as it
        keeps its memory in `MethodCycle.state`."""
        error = _library.new_error()
        size = lib.ffh_state_size(self._sim, error)
        if not size:
            raise _library.exception(error)
        data = bytearray(size)
        _library.check(lib.ffh_save(self._sim, ffi.from_buffer(data), size, error), error)
        return State(bytes(data), self.k, self.t)

    def restore(self, state: State) -> None:
        """Back, or over, to a saved state, bit for bit: also after the last cycle or a failure, until finish()."""
        if not isinstance(state, State):
            raise StateError(f"a State is needed, not {type(state).__name__}")
        if not self._handle.unended:
            raise StateError("the run was ended by finish(), or it writes files: a new Simulation can take the state")
        error = _library.new_error()
        _library.check(lib.ffh_restore(self._sim, ffi.from_buffer(state.data), len(state.data), error), error)
        self._failed, self._last = None, False

    def __repr__(self) -> str:
        return f"<Simulation {self.scenario}, {self.method}: {self.t:g} s of {self.cycles * self.cycle:g} s>"
