#!/usr/bin/env bash
# Type hints: every public function has them, and they can be resolved. In the long form (mypy reads numpy's own first, 10 s) mypy takes the
# package and a caller strictly, knows what calls give, and finds a wrong argument.
set -eu
. "$FF_SOURCE_DIR/tests/python/python.sh"
"$PYTHON" - <<'P'
import inspect
import typing
import freefloat as ff
seen = 0
for name in ff.__all__:
    thing = getattr(ff, name)
    functions = [thing] if inspect.isfunction(thing) else []
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        functions += [getattr(m, "fget", None) or getattr(m, "__func__", m) for k, m in vars(thing).items()
                      if not k.startswith("_") or k in ("__init__", "__getitem__")]
    for function in filter(inspect.isfunction, functions):
        hints = typing.get_type_hints(function)
        lacking = [p for p in inspect.signature(function).parameters if p not in hints and p != "self" and p != "cls"]
        assert not lacking and ("return" in hints or function.__name__ == "__init__"), (name, function.__name__, lacking)
        assert function.__doc__ or function.__name__.startswith("__"), (name, function.__name__, "no docstring")
        seen += 1
assert seen > 70, seen
P
[ -n "${FF_TEST_LONG-}" ] || exit 0
need mypy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > caller.py <<'P'
import freefloat as ff
from numpy import float64
from numpy.typing import NDArray

run = ff.run("deos-client", method="fused", set={"satellites.client.mass": 300}, contacts={"front": lambda d, rate: 2000 * d})
column: NDArray[float64] = run.columns["client.velocity.z"]
verdict: str = run.verdict
cycle: float = run.cycle


def method(c: ff.MethodCycle) -> None:
    c.bodies[0].out_force[:] = c.bodies[0].force * (c.k > 3)


def software(board: ff.OnBoard) -> None:
    board.force[:] = -board.client_velocity


sim = ff.Simulation("deos-client", method, obsw=software, record=False)
while sim.step():
    z: float = sim["client.velocity.z"]
state: ff.State = sim.save()
matrix: NDArray[float64] = ff.Tree.from_urdf("arm.urdf").mass_matrix([0.0] * 7)
map_: NDArray[float64] = ff.campaign("delay-stiffness", threads=2).of("force", "tdpa")
P
printf 'import freefloat as ff\nff.run("a", 3)\nff.Simulation("a", blah=3)\nx: int = ff.run("a").columns["t"]\nff.run("a").columns["t"].nothing\n' > wrong.py
export MYPYPATH=$FF_BUILD_DIR/python
mypy --strict --ignore-missing-imports --cache-dir cache -p freefloat
mypy --strict --ignore-missing-imports --cache-dir cache caller.py
mypy --strict --ignore-missing-imports --cache-dir cache wrong.py > said || true
[ "$(grep -c '^wrong.py:[2345]: error' said)" = 4 ] || { cat said; echo "FAIL: a wrong argument was not found"; exit 1; }
