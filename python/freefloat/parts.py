"""Parts of a run as Python functions: a method, on-board software, the law of a contact, a sensor.

They are called once a cycle or more often, so they are slow beside C: some microseconds a call, and the time of the
function itself. The same parts as a shared library (a path instead of a function) run at full speed."""
from __future__ import annotations

import ctypes
import math
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _arguments
from ._arguments import Floats, Numbers, PathLike
from ._library import Calls, ffi
from .errors import ArgumentError, MethodError

BODIES, STATE = 4, 256

#: depth [m] > 0, rate [m/s] -> normal force [N]
ContactLaw = Callable[[float, float], float]
#: t [s], wrench that enters the sensor [N, N m] -> its reading, six numbers
SensorLaw = Callable[[float, Floats], Union[Sequence[float], Floats, None]]


class _Struct:
    """A struct of doubles that is Python's own: arrays that look into it keep it alive."""

    def __init__(self, kind: str):
        self.kind, self.c = kind, ffi.new(kind + " *")
        self._all = np.frombuffer(ffi.buffer(self.c), dtype=np.float64)

    def array(self, *field: Union[str, int], count: Optional[int] = None, writes: bool = False) -> Floats:
        """The numbers of a field, or the first `count` of them."""
        begin = ffi.offsetof(self.kind, *field) // 8
        inside = self.c[0]
        for step in field:
            inside = inside[step] if isinstance(step, int) else getattr(inside, step)
        found: Floats = self._all[begin:begin + (len(inside) if count is None else count)]
        found.flags.writeable = writes
        return found


if TYPE_CHECKING:
    class _Written:
        """An array that is written by setting it: any numbers of its size."""

        def __get__(self, of: Any, kind: Any = None) -> Floats: ...

        def __set__(self, of: Any, values: Numbers) -> None: ...


class _Arrays:
    """Arrays under fixed names. To set one is to write into it; what can only be read says so."""

    __slots__ = ()
    _written: tuple[str, ...] = ()

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._written:
            raise AttributeError(f"'{name}' cannot be set, allowed: {', '.join(self._written)}")
        there = getattr(self, name)
        there[:] = _arguments.vector(f"'{name}'", value, there.size)

    def _place(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


class MethodBody(_Arrays):
    """One satellite in one cycle, as a method sees it: arrays that are the same in every cycle.

    Read: `position`, `attitude` (w, x, y, z), `velocity`, `angular_velocity` of the satellite at t_k; `force`, `torque`:
    the contact wrench about its centre of mass, body axes; `robot_position`, `robot_attitude`, `robot_velocity`,
    `robot_angular_velocity` as measured; `load_force`, `load_torque`; `mass`, `in_contact`, `valid`. Write: `out_force`,
    `out_torque`, the wrench that the satellite shall feel (preset: the measured one; `body.out_force = f` and
    `body.out_force[:] = f` are the same), `set_contact(bool)`.
    """

    _in: Any
    _out: Any
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
    out_force: _Written
    out_torque: _Written
    __slots__ = ("_in", "_out", "position", "attitude", "velocity", "angular_velocity", "force", "torque",
                 "robot_position", "robot_attitude", "robot_velocity", "robot_angular_velocity", "load_force",
                 "load_torque", "out_force", "out_torque")
    _written = ("out_force", "out_torque")

    def __init__(self, io: _Struct, i: int):
        self._place(_in=getattr(io.c, "in")[i], _out=io.c.out[i],
                    **{name: io.array("in", i, name) for name in self.__slots__[2:14]},
                    **{name: io.array("out", i, name[4:], writes=True) for name in self._written})

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
        if not isinstance(touching, (bool, np.bool_)):
            raise ArgumentError(f"set_contact: {touching!r}, allowed: True or False")
        self._out.in_contact = 1.0 if touching else 0.0

    def set_observer(self, energy: float) -> None:
        """[J] of a passivity observer, for the log; of the first body for all."""
        self._out.observer = _arguments.real("set_observer", energy)


class MethodCycle(_Arrays):
    """What a method is called with: `k`, `t` [s], `cycle` [s], `bodies`, and `state`, 256 numbers of its own that are
    zero before the first cycle and saved and restored with the run."""

    _io: Any
    _struct: _Struct
    state: _Written
    _bodies: tuple[MethodBody, ...]
    __slots__ = ("_io", "_struct", "state", "_bodies")
    _written = ("state",)

    def __init__(self, io: _Struct):
        self._place(_io=io.c, _struct=io, state=io.array("state", writes=True), _bodies=())

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
            self._place(_bodies=tuple(MethodBody(self._struct, i) for i in range(int(self._io.bodies))))
        return self._bodies


Method = Callable[[MethodCycle], Any]


class OnBoard(_Arrays):
    """What on-board software sees and does in one cycle, arrays that are the same in every cycle.

    Read: `sequence` (0 at the beginning, of the reference and of the run), `t`, `camera_t`, `client_position`,
    `client_attitude`, `client_velocity`, `client_angular_velocity`, `attitude`, `angular_velocity`, `q`, `qd`. Write:
    `force`, `torque` of the thrusters, `joint_torque`; `phase(int)`, `monitor(storage, dissipation)`. See docs/obsw.md.
    """

    _in: Any
    _out: Any
    client_position: Floats
    client_attitude: Floats
    client_velocity: Floats
    client_angular_velocity: Floats
    attitude: Floats
    angular_velocity: Floats
    q: Floats
    qd: Floats
    force: _Written
    torque: _Written
    joint_torque: _Written
    __slots__ = ("_in", "_out", "client_position", "client_attitude", "client_velocity", "client_angular_velocity",
                 "attitude", "angular_velocity", "q", "qd", "force", "torque", "joint_torque")
    _written = ("force", "torque", "joint_torque")

    def __init__(self, i: _Struct, o: _Struct, joints: int):
        self._place(_in=i.c, _out=o.c, **{name: i.array(name) for name in self.__slots__[2:8]},
                    q=i.array("q", count=joints), qd=i.array("qd", count=joints), force=o.array("force", writes=True),
                    torque=o.array("torque", writes=True), joint_torque=o.array("joint_torque", count=joints, writes=True))

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
        self._out.phase = _arguments.whole("phase", number, 0, 2**32 - 1)

    def monitor(self, storage: float, dissipation: float) -> None:
        """W_a and delta of destefano2021 (24), for the log."""
        self._out.storage = _arguments.real("storage", storage)
        self._out.dissipation = _arguments.real("dissipation", dissipation)


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


def _nothing(what: str, answer: Any) -> None:
    """Of a function that writes what it has to say."""
    if answer is not None:
        raise ArgumentError(f"{what} returned {answer!r:.60}, allowed: nothing; it writes into what it is given")


class Parts(Calls):
    """The C side of the functions that were brought. Kept alive by the run."""

    def __init__(self) -> None:
        super().__init__()
        self.struct = ffi.new("ffh_parts *")
        self.any = False
        self.joints: list[int] = []  #: of the arm, when the scenario is open

    def callback(self, kind: str, function: Callable[..., Any], failed: Any) -> Any:
        self.any = True
        return super().callback(kind, function, failed)

    def method(self, function: Method, name: str) -> None:
        if not name or len(name) > 31 or not all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
            raise MethodError(f"a method is named '{name}', allowed: up to 31 letters, digits, - and _")
        io = _Struct("ffh_method_io")
        cycle = MethodCycle(io)

        def step(_user: Any, _io: Any) -> int:
            _nothing("a method", function(cycle))
            return 0
        label = ffi.new("char[]", name.encode())
        self.keep += [io, label]
        self.struct.method_name, self.struct.method_io = label, io.c
        self.struct.method = self.callback("ffh_method_step *", step, 1)

    def obsw(self, function: OnBoardSoftware) -> None:
        seen, done = _Struct("ffh_obsw_in"), _Struct("ffh_obsw_out")
        sizes = ffi.sizeof("ffh_obsw_in"), ffi.sizeof("ffh_obsw_out")
        joints = self.joints
        made: list[OnBoard] = []

        def step(_user: Any, i: Any, o: Any) -> int:
            if not made:
                made.append(OnBoard(seen, done, joints[0]))
            ffi.memmove(seen.c, i, sizes[0])  # the library's own are gone when the run is
            ffi.memmove(done.c, o, sizes[1])
            answer = function(made[0])
            if answer is not False and answer is not True:
                _nothing("on-board software", answer)
            ffi.memmove(o, done.c, sizes[1])
            return 1 if answer is False else 0
        self.struct.obsw = self.callback("ffh_obsw_step *", step, -1)

    def contacts(self, laws: Mapping[str, Union[ContactLaw, PathLike]]) -> None:
        def one(name: str, law: ContactLaw) -> Any:
            def press(_user: Any, depth: float, rate: float) -> float:
                force = law(depth, rate)
                if not isinstance(force, float) or not math.isfinite(force):
                    return _arguments.real(f"contact '{name}': the force at a depth of {depth:.3g} m", force)
                return force
            return self.callback("ffh_contact_law *", press, float("nan"))
        self._table("contact", "ffh_contact_law *", "contact_law", laws, one)
        self.struct.contacts = len(laws)

    def sensors(self, laws: Mapping[str, Union[SensorLaw, PathLike]]) -> None:
        def one(name: str, law: SensorLaw) -> Any:
            def read(_user: Any, t: float, f: Any) -> int:
                inside = np.frombuffer(ffi.buffer(f, 48), dtype=np.float64)  # on the library's stack: for this call alone
                given = inside.copy()
                answer = law(t, given)
                inside[:] = _arguments.vector(f"sensor '{name}': its reading", given if answer is None else answer, 6)
                return 0
            return self.callback("ffh_sensor_law *", read, 1)
        self._table("sensor", "ffh_sensor_law *", "sensor_law", laws, one)
        self.struct.sensors = len(laws)

    def _table(self, what: str, kind: str, symbol: str, laws: Mapping[str, Any],
               one: Callable[[str, Any], Any]) -> None:
        names = [ffi.new("char[]", _arguments.text(what + "s", name)) for name in laws]
        functions = []
        for name, law in laws.items():
            if isinstance(law, (str, bytes, os.PathLike)):
                functions.append(ffi.cast(kind, _address(_arguments.path(f"{what} '{name}'", law), symbol)))
            elif callable(law):
                functions.append(one(name, law))
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
