"""Parts of a run as Python functions: a method, on-board software, the law of a contact, a sensor.

They are called once a cycle or more often, so they are slow beside C: some microseconds a call, and the time of the
function itself. The same parts as a shared library (a path instead of a function) run at full speed."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _arguments
from ._arguments import Floats, PathLike
from ._library import ffi
from .errors import ArgumentError, MethodError

BODIES, STATE = 4, 256

#: depth [m] > 0, rate [m/s] -> normal force [N]
ContactLaw = Callable[[float, float], float]
#: t [s], wrench that enters the sensor [N, N m] -> its reading, six numbers
SensorLaw = Callable[[float, Floats], Union[Sequence[float], Floats, None]]


def _view(pointer: Any, count: int) -> Floats:
    return np.frombuffer(ffi.buffer(ffi.cast("double *", pointer), 8 * count), dtype=np.float64)


class MethodBody:
    """One satellite in one cycle, as a method sees it: arrays that are the same in every cycle.

    Read: `position`, `attitude` (w, x, y, z), `velocity`, `angular_velocity` of the satellite at t_k; `force`, `torque`:
    the contact wrench about its centre of mass, body axes; `robot_position`, `robot_attitude`, `robot_velocity`,
    `robot_angular_velocity` as measured; `load_force`, `load_torque`; `mass`, `in_contact`, `valid`. Write: `out_force`,
    `out_torque`, the wrench that the satellite shall feel (preset: the measured one), `set_contact(bool)`.
    """

    position: Floats
    attitude: Floats
    velocity: Floats
    angular_velocity: Floats
    force: Floats
    torque: Floats
    robot_position: Floats
    robot_attitude: Floats
    robot_velocity: Floats
    robot_angular_velocity: Floats
    load_force: Floats
    load_torque: Floats
    out_force: Floats
    out_torque: Floats
    __slots__ = ("_in", "_out", "position", "attitude", "velocity", "angular_velocity", "force", "torque",
                 "robot_position", "robot_attitude", "robot_velocity", "robot_angular_velocity", "load_force",
                 "load_torque", "out_force", "out_torque")

    def __init__(self, body: Any, answer: Any):
        self._in, self._out = body, answer
        for name in self.__slots__[2:14]:
            setattr(self, name, _view(getattr(body, name), len(getattr(body, name))))
        self.out_force, self.out_torque = _view(answer.force, 3), _view(answer.torque, 3)

    @property
    def mass(self) -> float:
        """[kg]"""
        return float(self._in.mass)

    @property
    def in_contact(self) -> bool:
        """As stage 2 detects it."""
        return bool(self._in.in_contact != 0.0)

    @property
    def valid(self) -> bool:
        """False: the wrench repeats the last good one."""
        return bool(self._in.valid != 0.0)

    def set_contact(self, touching: bool) -> None:
        """What the log's `in_contact` says, unless it shall be as detected."""
        self._out.in_contact = 1.0 if touching else 0.0

    def set_observer(self, energy: float) -> None:
        """[J] of a passivity observer, for the log; of the first body for all."""
        self._out.observer = energy


class MethodCycle:
    """What a method is called with: `k`, `t` [s], `cycle` [s], `bodies`, and `state`, 256 numbers of its own that are
    zero before the first cycle and saved and restored with the run."""

    __slots__ = ("_io", "_all", "state", "_bodies")

    def __init__(self, io: Any):
        self._io = io
        self.state = _view(io.state, STATE)
        self._all = tuple(MethodBody(getattr(io, "in")[i], io.out[i])
                          for i in range(BODIES))
        self._bodies: tuple[MethodBody, ...] = ()

    @property
    def k(self) -> int:
        """Of this cycle, from 0."""
        return int(self._io.k)

    @property
    def t(self) -> float:
        """[s]"""
        return float(self._io.t)

    @property
    def cycle(self) -> float:
        """[s]"""
        return float(self._io.cycle)

    @property
    def bodies(self) -> tuple[MethodBody, ...]:
        """The satellites, in the order of the scenario."""
        if not self._bodies:
            self._bodies = self._all[:int(self._io.bodies)]
        return self._bodies


Method = Callable[[MethodCycle], Any]


class OnBoard:
    """What on-board software sees and does in one cycle, arrays that are the same in every cycle.

    Read: `sequence` (0 at the beginning, of the reference and of the run), `t`, `camera_t`, `client_position`,
    `client_attitude`, `client_velocity`, `client_angular_velocity`, `attitude`, `angular_velocity`, `q`, `qd`. Write:
    `force`, `torque` of the thrusters, `joint_torque`; `phase(int)`, `monitor(storage, dissipation)`. See docs/obsw.md.
    """

    client_position: Floats
    client_attitude: Floats
    client_velocity: Floats
    client_angular_velocity: Floats
    attitude: Floats
    angular_velocity: Floats

    def __init__(self, i: Any, o: Any, joints: int):
        self._in, self._out = i, o
        for name in ("client_position", "client_attitude", "client_velocity", "client_angular_velocity", "attitude",
                     "angular_velocity"):
            setattr(self, name, _view(getattr(i, name), len(getattr(i, name))))
        self.q, self.qd = _view(i.q, joints), _view(i.qd, joints)
        self.force, self.torque = _view(o.force, 3), _view(o.torque, 3)
        self.joint_torque = _view(o.joint_torque, joints)

    @property
    def sequence(self) -> int:
        """0 at the beginning."""
        return int(self._in.sequence)

    @property
    def t(self) -> float:
        """[s]"""
        return float(self._in.t)

    @property
    def camera_t(self) -> float:
        """[s] of the camera's picture."""
        return float(self._in.camera_t)

    def phase(self, number: int) -> None:
        """For the log."""
        self._out.phase = number

    def monitor(self, storage: float, dissipation: float) -> None:
        """W_a and delta of destefano2021 (24), for the log."""
        self._out.storage, self._out.dissipation = storage, dissipation


OnBoardSoftware = Callable[[OnBoard], Any]


def _address(path: str, symbol: str) -> int:
    """Of a function in a shared library: PATH or PATH:SYMBOL."""
    if ":" in path:
        path, symbol = path.rsplit(":", 1)
    try:
        library = ctypes.CDLL(os.path.abspath(path))
        return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0
    except (OSError, AttributeError) as error:
        raise ArgumentError(f"{path}: {error}") from None


class Parts:
    """The C side of the functions that were brought, and what they raised. Kept alive by the run."""

    def __init__(self) -> None:
        self.raised: Optional[BaseException] = None
        self.keep: list[Any] = []
        self.struct = ffi.new("ffh_parts *")
        self.any = False

    def guard(self, function: Callable[..., Any], failed: Any) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except BaseException as error:  # pylint: disable=broad-except
                if self.raised is None:
                    self.raised = error
                return failed
        return call

    def _callback(self, kind: str, function: Callable[..., Any], failed: Any) -> Any:
        made = ffi.callback(kind, self.guard(function, failed), error=failed)
        self.keep.append(made)
        self.any = True
        return made

    def method(self, function: Method, name: str) -> None:
        if not name or len(name) > 31 or not all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
            raise MethodError(f"a method is named '{name}', allowed: up to 31 letters, digits, - and _")
        io = ffi.new("ffh_method_io *")
        cycle = MethodCycle(io)
        raised = self

        def step(_user: Any, _io: Any) -> int:
            try:
                function(cycle)
                return 0
            except BaseException as error:  # pylint: disable=broad-except
                raised.raised = error
                return 1
        made = ffi.callback("ffh_method_step *", step, error=1)
        label = ffi.new("char[]", name.encode())
        self.keep += [io, cycle, made, label]
        self.any = True
        self.struct.method_name, self.struct.method, self.struct.method_io = label, made, io

    def obsw(self, function: OnBoardSoftware, joints: int) -> None:
        seen: dict[int, OnBoard] = {}

        def step(_user: Any, i: Any, o: Any) -> int:
            key = int(ffi.cast("intptr_t", i))
            board = seen.get(key)
            if board is None:
                board = seen[key] = OnBoard(i, o, joints)
            return 1 if function(board) is False else 0
        self.struct.obsw = self._callback("ffh_obsw_step *", step, -1)

    def contacts(self, laws: Mapping[str, Union[ContactLaw, PathLike]]) -> None:
        def one(law: ContactLaw) -> Any:
            return self._callback("ffh_contact_law *", lambda _user, d, rate: float(law(d, rate)), float("nan"))
        self._table("contact", "ffh_contact_law *", "contact_law", laws, one)
        self.struct.contacts = len(laws)

    def sensors(self, laws: Mapping[str, Union[SensorLaw, PathLike]]) -> None:
        def one(law: SensorLaw) -> Any:
            def read(_user: Any, t: float, f: Any) -> int:
                reading = _view(f, 6)
                answer = law(t, reading)
                if answer is not None:
                    reading[:] = answer
                if not np.isfinite(reading).all():
                    raise ArgumentError("a sensor's reading must be finite")
                return 0
            return self._callback("ffh_sensor_law *", read, 1)
        self._table("sensor", "ffh_sensor_law *", "sensor_law", laws, one)
        self.struct.sensors = len(laws)

    def _table(self, what: str, kind: str, symbol: str, laws: Mapping[str, Any], one: Callable[[Any], Any]) -> None:
        names = [ffi.new("char[]", _arguments.text(what + "s", name)) for name in laws]
        functions = []
        for name, law in laws.items():
            if isinstance(law, (str, bytes, os.PathLike)):
                functions.append(ffi.cast(kind, _address(_arguments.path(f"{what} '{name}'", law), symbol)))
            elif callable(law):
                functions.append(one(law))
            else:
                raise ArgumentError(f"{what} '{name}': a function or the path of a library is needed, not {law!r}")
        arrays = [ffi.new("char *[]", names), ffi.new(kind + "[]", functions),
                  ffi.new("void *[]", [ffi.NULL] * len(names))]
        self.keep += names + functions + arrays
        self.any = True
        if what == "contact":
            self.struct.contact_name, self.struct.contact_law, self.struct.contact_user = arrays
        else:
            self.struct.sensor_body, self.struct.sensor_law, self.struct.sensor_user = arrays
