"""The numerics alone, on numpy arrays: rigid bodies and their integrators, trees of links, identification, passivity.

Every function takes one case, or many stacked in front: q of shape (joints,) or (n, joints)."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _arguments, _library
from ._arguments import Floats, Numbers, PathLike, rows
from ._library import ffi, lib, text
from .errors import ArgumentError
from .run import Run


def _in(array: Floats) -> Any:
    return ffi.cast("double *", array.ctypes.data)


def _inertia(values: Any) -> list[float]:
    """[xx, yy, zz], [xx, yy, zz, xy, xz, yz] or a matrix, as six numbers."""
    a = _arguments.numbers("inertia", values)
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

    def __init__(self, mass: float, inertia: Numbers, com: Numbers = (0, 0, 0)):
        self._body = ffi.new("ffh_rigid *")
        self._body.mass = _arguments.real("mass", mass, "> 0 [kg]")
        self._body.inertia = _inertia(inertia)
        self._body.com = list(_arguments.vector("com", com, 3))
        self.mass, self.inertia = float(mass), np.array(_inertia(inertia))
        self.energy(self.state())  # says what is wrong

    @staticmethod
    def state(position: Numbers = (0, 0, 0), attitude: Numbers = (1, 0, 0, 0), velocity: Numbers = (0, 0, 0),
              angular_velocity: Numbers = (0, 0, 0)) -> Floats:
        """13 numbers from their parts."""
        vector = _arguments.vector
        return np.concatenate([vector("position", position, 3), vector("attitude", attitude, 4),
                               vector("velocity", velocity, 3), vector("angular_velocity", angular_velocity, 3)])

    def advance(self, state: Numbers, h: float, steps: int = 1, contact: Optional[Numbers] = None,
                load: Optional[Numbers] = None, integrator: str = "lie-midpoint", energies: bool = False) -> Any:
        """The states behind each of `steps` cycles of h [s], (steps, 13). contact (a wrench as a sensor measures it: it
        acts as the integrator says) and load: force inertial and torque in body axes, (6,) for all or (steps, 6).
        With `energies` also (steps, 3): what contact, loads and the integrator itself gave [J]."""
        x, _ = rows("state", state, 13)
        if len(x) != 1:
            raise ArgumentError("state has several rows, allowed: one")
        steps = _arguments.whole("steps", steps, 1, 2**40)
        given = [None if f is None else rows(n, f, 6, steps)[0] for n, f in (("contact", contact), ("load", load))]
        after = np.empty((steps, 13))
        energy = np.empty((steps, 3))
        error = _library.new_error()
        _library.check(lib.ffh_rigid_advance(self._body, _arguments.text("integrator", integrator),
                                             _arguments.real("h", h, "> 0 [s]"), steps, _in(x),
                                             *(ffi.NULL if f is None else _in(f) for f in given), 1, _in(after),
                                             _in(energy), error), error)
        return (after, energy) if energies else after

    def energy(self, state: Numbers) -> Union[float, Floats]:
        """Kinetic energy [J]."""
        x, single = rows("state", state, 13)
        out = np.empty(len(x))
        error = _library.new_error()
        _library.check(lib.ffh_rigid_measure(self._body, _in(x), len(x), _in(out), ffi.NULL, error), error)
        return float(out[0]) if single else out

    def momentum(self, state: Numbers) -> Floats:
        """Momentum [N s] and angular momentum about the centre of mass [N m s], inertial axes: six numbers."""
        x, single = rows("state", state, 13)
        out = np.empty((len(x), 6))
        error = _library.new_error()
        _library.check(lib.ffh_rigid_measure(self._body, _in(x), len(x), ffi.NULL, _in(out), error), error)
        return np.asarray(out[0]) if single else out


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
        if base is not None and not isinstance(base, RigidBody):
            raise ArgumentError(f"base is {base!r}, allowed: a RigidBody, or None")
        handle = lib.ffh_tree_urdf(os.fsencode(_arguments.path("path", path)), base._body if base else ffi.NULL, error)
        if not handle:
            raise _library.exception(error)
        return cls(handle)

    def _ask(self, q: Any, name: str, shape: tuple[int, ...], base: Any = None, v: Any = None, gravity: Any = None,
             link: int = -1, **given: Any) -> Floats:
        configurations, single = rows("q", q, self.joints)
        n = len(configurations)
        ask = ffi.new("ffh_tree_ask *")
        keep = [configurations]
        ask.q, ask.link = _in(configurations), _arguments.whole("link", link, -1, self.links - 1)
        inputs = [("base", base, 7, n), ("v", v, self.dof, n), ("gravity", gravity, 3, 1)]
        for given_name, value, width, count in inputs + [(k, x, self.dof, n) for k, x in given.items()]:
            if value is not None:
                keep.append(rows(given_name, value, width, count)[0])
                setattr(ask, given_name, _in(keep[-1]))
        made: Floats = np.empty((n, *shape))
        setattr(ask, name, _in(made))
        error = _library.new_error()
        _library.check(lib.ffh_tree_evaluate(self._tree, ask, n, error), error)
        return np.asarray(made[0]) if single else made

    def mass_matrix(self, q: Numbers) -> Floats:
        """M(q), (dof, dof)."""
        return self._ask(q, "mass_matrix", (self.dof, self.dof))

    def bias(self, q: Numbers, v: Numbers, gravity: Numbers = (0, 0, 0), base: Optional[Numbers] = None) -> Floats:
        """C(q, v) v + g, (dof,)."""
        return self._ask(q, "bias", (self.dof,), base, v, gravity)

    def kinetic_energy(self, q: Numbers, v: Numbers) -> Union[float, Floats]:
        """[J]"""
        found = self._ask(q, "kinetic", (), None, v)
        return float(found) if found.ndim == 0 else found

    def pose(self, q: Numbers, link: int = -1, base: Optional[Numbers] = None) -> Floats:
        """Position and attitude of a link's frame (a row of the file; -1: the last), seven numbers."""
        return self._ask(q, "pose", (7,), base, link=link)

    def jacobian(self, q: Numbers, link: int = -1) -> Floats:
        """Twist of that frame over the velocities, angular first, in the frame's own axes: (6, dof)."""
        return self._ask(q, "jacobian", (6, self.dof), link=link)

    def inverse_dynamics(self, q: Numbers, v: Numbers, acceleration: Numbers, gravity: Numbers = (0, 0, 0)) -> Floats:
        """Base wrench and joint torques that make this motion, (dof,)."""
        return self._ask(q, "force", (self.dof,), None, v, gravity, acceleration=acceleration)

    def forward_dynamics(self, q: Numbers, v: Numbers, force: Numbers, gravity: Numbers = (0, 0, 0)) -> Floats:
        """The acceleration under base wrench and joint torques, (dof,)."""
        return self._ask(q, "acceleration_out", (self.dof,), None, v, gravity, force_in=force)

    def __repr__(self) -> str:
        return f"<Tree of {self.joints} joints, {self.mass:g} kg: {', '.join(self.names)}>"


def _column(name: str, values: Any) -> Floats:
    """Of a log: NaN is a value that is not there."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"column '{name}': numbers are needed ({error})") from None
    if array.ndim != 1:
        raise ArgumentError(f"column '{name}' has shape {array.shape}, allowed: (n,)")
    return array


def identify(log: Union[PathLike, Run, Mapping[str, Any]], what: str, body: Optional[str] = None, *,
             scenario: Optional[PathLike] = None, gravity: Numbers = (0, 0, 0), skew: float = 0.0,
             delay_max: Optional[float] = None) -> dict[str, Any]:
    """What a log says of the facility, as `freefloat analyze log`: "delay" (of the robots), "contact" (stiffness and
    damping) or "payload" (the mock-up's mass and centre of mass), each with its standard deviation.

    log: a file (log.csv, log.mcap), a Run, or columns by name (a dict, a pandas.DataFrame), "t" first. Returns a dict by
    satellite. Raises RunError where the log says nothing of it."""
    o = ffi.new("ffh_identify_options *")
    keep: list[Any] = []

    def hold(name: str, value: Any) -> Any:
        keep.append(ffi.new("char[]", _arguments.text(name, value)))
        return keep[-1]
    path = "columns"
    columns: Any = log
    if isinstance(log, Run):
        path, columns = log.scenario, log.columns
    if isinstance(columns, Mapping) or hasattr(columns, "keys"):  # pandas.DataFrame is no Mapping
        arrays = [_column(str(name), columns[name]) for name in columns.keys()]
        if not arrays or any(len(a) != len(arrays[0]) for a in arrays):
            raise ArgumentError("the columns of a log must be arrays of one length")
        names = ffi.new("char *[]", [hold("a column's name", name) for name in columns.keys()])
        values = ffi.new("double *[]", [_in(a) for a in arrays])
        keep += [arrays, names, values]
        o.columns, o.rows, o.name, o.value = len(arrays), len(arrays[0]), names, values
    else:
        path = _arguments.path("log", log)
    if body is not None:
        o.body = hold("body", body)
    if scenario is not None:
        o.scenario = hold("scenario", _arguments.path("scenario", scenario))
    o.gravity = list(_arguments.vector("gravity", gravity, 3))
    o.skew = _arguments.real("skew", skew, ">= 0 [s]", 0.0)
    if delay_max is not None:
        o.delay_max = _arguments.real("delay_max", delay_max, "> 0 [s]", 5e-324)
    error = _library.new_error()
    found = lib.ffh_identify(os.fsencode(path), _arguments.text("what", what), o, error)
    if not found:
        raise _library.exception(error)
    try:
        return dict(json.loads(text(found))["satellites"])
    finally:
        lib.ffh_free(found)


def passivity(force: Numbers, velocity: Numbers, cycle: float) -> Floats:
    """A passivity observer: the energy [J] that came in through a port up to and with each cycle, the sum of
    force . velocity * cycle. Where it is negative, more has come out than went in: the port was active there.

    force and velocity: (n,) or (n, axes)."""
    f, v = _arguments.numbers("force", force), _arguments.numbers("velocity", velocity)
    if f.shape != v.shape or f.ndim not in (1, 2):
        raise ArgumentError(f"force has shape {f.shape}, velocity {v.shape}, allowed: both (n,) or (n, axes)")
    if not _arguments.real("cycle", cycle, "> 0 [s]") > 0:
        raise ArgumentError(f"cycle is {cycle!r}, allowed: > 0 [s]")
    power = f * v if f.ndim == 1 else (f * v).sum(axis=1)
    return np.asarray(np.cumsum(power) * cycle)
