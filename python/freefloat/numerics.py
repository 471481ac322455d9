"""The numerics alone, on numpy arrays: rigid bodies and their integrators, trees of links, identification, passivity.

Every function takes one case, or many stacked in front: q of shape (joints,) or (n, joints)."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _library
from ._library import ffi, lib, text
from .errors import ArgumentError
from .run import PathLike, Run

Array = Union[Sequence[float], Sequence[Sequence[float]], np.ndarray]


def _rows(what: str, values: Any, width: int, rows: Optional[int] = None) -> tuple[np.ndarray, bool]:
    """Finite numbers of shape (n, width), and whether there was one row alone."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise ArgumentError(f"{what}: numbers are needed, not {array.dtype}")
    if array.ndim not in (1, 2) or array.shape[-1] != width:
        raise ArgumentError(f"{what} has shape {array.shape}, allowed: ({width},) or (n, {width})")
    if not np.isfinite(array).all():
        raise ArgumentError(f"{what} must be finite")
    single = array.ndim == 1
    array = np.ascontiguousarray(np.atleast_2d(array), dtype=np.float64)
    if rows is not None and len(array) != rows:
        if len(array) != 1:
            raise ArgumentError(f"{what} has {len(array)} rows, allowed: 1 or {rows}")
        array = np.ascontiguousarray(np.broadcast_to(array, (rows, width)))
    return array, single


def _in(array: np.ndarray) -> Any:
    return ffi.cast("double *", array.ctypes.data)


def _inertia(values: Any) -> list[float]:
    """[xx, yy, zz], [xx, yy, zz, xy, xz, yz] or a matrix, as six numbers."""
    a = np.asarray(values, dtype=np.float64)
    if a.shape == (3,):
        return [*a, 0.0, 0.0, 0.0]
    if a.shape == (6,):
        return list(a)
    if a.shape == (3, 3) and np.array_equal(a, a.T):
        return [a[0, 0], a[1, 1], a[2, 2], a[0, 1], a[0, 2], a[1, 2]]
    raise ArgumentError(f"inertia has shape {a.shape}, allowed: (3,), (6,) or a symmetric (3, 3)")


class RigidBody:
    """A free rigid body. A state is 13 numbers: position, attitude (w, x, y, z), velocity (inertial), angular velocity
    (body axes).

        body = ff.RigidBody(280, [18, 20, 22])
        x = body.state(velocity=[0.02, 0, 0])
        path = body.advance(x, h=0.004, steps=1000, load=[1, 0, 0, 0, 0, 0])
    """

    def __init__(self, mass: float, inertia: Array, com: Array = (0, 0, 0)):
        self._body = ffi.new("ffh_rigid *")
        self._body.mass = mass
        self._body.inertia = _inertia(inertia)
        self._body.com = list(np.asarray(com, dtype=float))
        self.mass, self.inertia = float(mass), np.array(_inertia(inertia))
        self.energy(self.state())  # says what is wrong

    @staticmethod
    def state(position: Array = (0, 0, 0), attitude: Array = (1, 0, 0, 0), velocity: Array = (0, 0, 0),
              angular_velocity: Array = (0, 0, 0)) -> np.ndarray:
        """13 numbers from their parts."""
        x = np.concatenate([np.asarray(p, dtype=float) for p in (position, attitude, velocity, angular_velocity)])
        return _rows("state", x, 13)[0][0]

    def advance(self, state: Array, h: float, steps: int = 1, contact: Optional[Array] = None,
                load: Optional[Array] = None, integrator: str = "lie-midpoint", energies: bool = False) -> Any:
        """The states behind each of `steps` cycles of h [s], (steps, 13). contact (a wrench as a sensor measures it: it
        acts as the integrator says) and load: force inertial and torque in body axes, (6,) for all or (steps, 6).
        With `energies` also (steps, 3): what contact, loads and the integrator itself gave [J]."""
        x, _ = _rows("state", state, 13)
        if len(x) != 1:
            raise ArgumentError("state has several rows, allowed: one")
        if steps < 1:
            raise ArgumentError(f"steps is {steps}, allowed: >= 1")
        given = [None if f is None else _rows(n, f, 6, steps)[0] for n, f in (("contact", contact), ("load", load))]
        after = np.empty((steps, 13))
        energy = np.empty((steps, 3))
        error = _library.new_error()
        _library.check(lib.ffh_rigid_advance(self._body, integrator.encode(), h, steps, _in(x),
                                             *(ffi.NULL if f is None else _in(f) for f in given), 1, _in(after),
                                             _in(energy), error), error)
        return (after, energy) if energies else after

    def energy(self, state: Array) -> Any:
        """Kinetic energy [J]."""
        x, single = _rows("state", state, 13)
        out = np.empty(len(x))
        error = _library.new_error()
        _library.check(lib.ffh_rigid_measure(self._body, _in(x), len(x), _in(out), ffi.NULL, error), error)
        return float(out[0]) if single else out

    def momentum(self, state: Array) -> np.ndarray:
        """Momentum [N s] and angular momentum about the centre of mass [N m s], inertial axes: six numbers."""
        x, single = _rows("state", state, 13)
        out = np.empty((len(x), 6))
        error = _library.new_error()
        _library.check(lib.ffh_rigid_measure(self._body, _in(x), len(x), ffi.NULL, _in(out), error), error)
        return out[0] if single else out


class Tree:
    """A tree of links with joints, from a URDF file: on a fixed base, or on a free one.

        tree = ff.Tree.from_urdf("scenarios/envisat-arm.urdf")
        tree.mass_matrix([0, 0.3, 0, 1.0, 0, 0.5, 0])

    On a free base the first six of `dof` are the base's: angular, then linear, in base axes.
    """

    def __init__(self, handle: Any):
        self._tree = ffi.gc(handle, lib.ffh_tree_close)
        info = ffi.new("ffh_tree_info *")
        lib.ffh_tree_describe(self._tree, info)
        self.joints, self.links, self.dof, self.mass = info.joints, info.links, info.dof, info.mass
        self.names = [text(info.joint[i]) for i in range(info.joints)]
        self.limits = np.array([[info.lower[i], info.upper[i]] for i in range(info.joints)]).reshape(-1, 2)

    @classmethod
    def from_urdf(cls, path: PathLike, base: Optional[RigidBody] = None) -> "Tree":
        """base: inertia of a free base, in place of the file's root link; None: the root is fixed."""
        error = _library.new_error()
        handle = lib.ffh_tree_urdf(os.fspath(path).encode(), base._body if base else ffi.NULL, error)
        if not handle:
            raise _library.exception(error)
        return cls(handle)

    def _ask(self, q: Any, out: dict[str, tuple[int, ...]], base: Any = None, v: Any = None, gravity: Any = None,
             link: int = -1, **given: Any) -> Any:
        rows, single = _rows("q", q, self.joints)
        n = len(rows)
        ask = ffi.new("ffh_tree_ask *")
        keep = [rows]
        ask.q, ask.link = _in(rows), link
        inputs = [("base", base, 7, n), ("v", v, self.dof, n), ("gravity", gravity, 3, 1)]
        for name, value, width, count in inputs + [(k, x, self.dof, n) for k, x in given.items()]:
            if value is not None:
                keep.append(_rows(name, value, width, count)[0])
                setattr(ask, name, _in(keep[-1]))
        made = {name: np.empty((n, *shape)) for name, shape in out.items()}
        for name, array in made.items():
            setattr(ask, name, _in(array))
        error = _library.new_error()
        _library.check(lib.ffh_tree_evaluate(self._tree, ask, n, error), error)
        results = [a[0] if single else a for a in made.values()]
        return results[0] if len(results) == 1 else results

    def mass_matrix(self, q: Array) -> np.ndarray:
        """M(q), (dof, dof)."""
        return self._ask(q, {"mass_matrix": (self.dof, self.dof)})

    def bias(self, q: Array, v: Array, gravity: Array = (0, 0, 0), base: Optional[Array] = None) -> np.ndarray:
        """C(q, v) v + g, (dof,)."""
        return self._ask(q, {"bias": (self.dof,)}, base, v, gravity)

    def kinetic_energy(self, q: Array, v: Array) -> Any:
        """[J]"""
        return self._ask(q, {"kinetic": ()}, None, v)

    def pose(self, q: Array, link: int = -1, base: Optional[Array] = None) -> np.ndarray:
        """Position and attitude of a link's frame (a row of the file; -1: the last), seven numbers."""
        return self._ask(q, {"pose": (7,)}, base, link=link)

    def jacobian(self, q: Array, link: int = -1) -> np.ndarray:
        """Twist of that frame over the velocities, angular first, in the frame's own axes: (6, dof)."""
        return self._ask(q, {"jacobian": (6, self.dof)}, link=link)

    def inverse_dynamics(self, q: Array, v: Array, acceleration: Array, gravity: Array = (0, 0, 0)) -> np.ndarray:
        """Base wrench and joint torques that make this motion, (dof,)."""
        return self._ask(q, {"force": (self.dof,)}, None, v, gravity, acceleration=acceleration)

    def forward_dynamics(self, q: Array, v: Array, force: Array, gravity: Array = (0, 0, 0)) -> np.ndarray:
        """The acceleration under base wrench and joint torques, (dof,)."""
        return self._ask(q, {"acceleration_out": (self.dof,)}, None, v, gravity, force_in=force)

    def __repr__(self) -> str:
        return f"<Tree of {self.joints} joints, {self.mass:g} kg: {', '.join(self.names)}>"


def identify(log: Union[PathLike, Run, Mapping[str, Array]], what: str, body: Optional[str] = None, *,
             scenario: Optional[PathLike] = None, gravity: Array = (0, 0, 0), skew: float = 0.0,
             delay_max: float = 0.0) -> dict:
    """What a log says of the facility, as `freefloat analyze log`: "delay" (of the robots), "contact" (stiffness and
    damping) or "payload" (the mock-up's mass and centre of mass), each with its standard deviation.

    log: a file (log.csv, log.mcap), a Run, or columns by name, "t" first. Returns a dict by satellite. Raises RunError
    where the log says nothing of it."""
    o = ffi.new("ffh_identify_options *")
    keep: list[Any] = []

    def hold(value: str) -> Any:
        keep.append(ffi.new("char[]", value.encode()))
        return keep[-1]
    path = "columns"
    if isinstance(log, Run):
        path, log = log.scenario, log.columns
    if isinstance(log, Mapping):
        arrays = [np.ascontiguousarray(log[name], dtype=np.float64) for name in log]
        if not arrays or any(a.ndim != 1 or len(a) != len(arrays[0]) for a in arrays):
            raise ArgumentError("the columns of a log must be arrays of one length")
        names = ffi.new("char *[]", [hold(name) for name in log])
        values = ffi.new("double *[]", [_in(a) for a in arrays])
        keep += [arrays, names, values]
        o.columns, o.rows, o.name, o.value = len(arrays), len(arrays[0]), names, values
    else:
        path = os.fspath(log)
    if body is not None:
        o.body = hold(body)
    if scenario is not None:
        o.scenario = hold(os.fspath(scenario))
    o.gravity = list(_rows("gravity", gravity, 3)[0][0])
    o.skew, o.delay_max = skew, delay_max
    error = _library.new_error()
    found = lib.ffh_identify(path.encode(), what.encode(), o, error)
    if not found:
        raise _library.exception(error)
    try:
        return json.loads(text(found))["satellites"]
    finally:
        lib.ffh_free(found)


def passivity(force: Array, velocity: Array, cycle: float) -> np.ndarray:
    """A passivity observer: the energy [J] that came in through a port up to and with each cycle, the sum of
    force . velocity * cycle. Where it is negative, more has come out than went in: the port was active there.

    force and velocity: (n,) or (n, axes)."""
    f, v = np.asarray(force, dtype=np.float64), np.asarray(velocity, dtype=np.float64)
    if f.shape != v.shape or f.ndim not in (1, 2):
        raise ArgumentError(f"force has shape {f.shape}, velocity {v.shape}, allowed: both (n,) or (n, axes)")
    if not (np.isfinite(f).all() and np.isfinite(v).all() and np.isfinite(cycle) and cycle > 0):
        raise ArgumentError("force and velocity must be finite, the cycle > 0")
    power = f * v if f.ndim == 1 else (f * v).sum(axis=1)
    return np.cumsum(power) * cycle
