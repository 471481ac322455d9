#!/usr/bin/env python3
"""What Python costs beside the command (docs/python.md has the figures): processor time, in turns, medians.

    PYTHONPATH=build/python /usr/bin/python3 bench/python.py build/freefloat [ROUNDS]

With 0 rounds instructions are counted (valgrind), which a busy machine does not change: a run with files in Python against the
command, and the import against numpy's.
"""
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SCENARIO = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scenarios", "deos-client.yaml")


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_command(arguments: list) -> float:
    before = children()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    return children() - before


def of_call(call) -> float:
    before = time.process_time()
    call()
    return time.process_time() - before


def imports() -> float:
    """[s] of `import freefloat`, without what numpy takes."""
    code = ("import time, numpy, json, tempfile\nt = time.process_time()\nimport freefloat\n"
            "print(time.process_time() - t)")
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def instructions(arguments: list) -> int:
    """Of a process, in all its threads."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder}/out",
                               *arguments], check=True, capture_output=True, text=True)
    return int(re.search(r"I +refs: +([0-9,]+)", done.stderr).group(1).replace(",", ""))


def counted(command: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = instructions([command, "run", SCENARIO, "--quiet", "--out", f"{folder}/a"])

        def python(code: str) -> int:
            return instructions([sys.executable, "-W", "ignore", "-c", code])
        runs = "import freefloat as ff\nfor i in range({0}): ff.run({1!r}{2})"
        made = {name: (python(runs.format(3, SCENARIO, f", out={folder + '/b'!r} + str(i)" if name else ""))
                       - python(runs.format(1, SCENARIO, f", out={folder + '/c'!r} + str(i)" if name else ""))) / 2
                for name in ("with files", "")}
    print(f"freefloat run           {base / 1e6:8.1f} million instructions")
    for name, count in made.items():
        print(f"ff.run {name:16} {count / 1e6:8.1f} million, {100 * (count / base - 1):+.1f} %")
    numpy = python("import numpy, json, tempfile")
    start = python("pass")
    whole = python("import numpy, json, tempfile, freefloat")
    print(f"import freefloat        {(whole - numpy) / 1e6:8.1f} million, numpy's {(numpy - start) / 1e6:.1f}")


def main(command: str, rounds: int = 15) -> None:
    if rounds == 0:
        return counted(command)
    import freefloat as ff
    times = {name: [] for name in ("command", "run with files", "run", "import")}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(rounds):
            times["command"].append(of_command([command, "run", SCENARIO, "--quiet", "--out", f"{folder}/a{i}"]))
            times["run with files"].append(of_call(lambda: ff.run(SCENARIO, out=f"{folder}/b{i}")))
            times["run"].append(of_call(lambda: ff.run(SCENARIO)))
            times["import"].append(imports())
    middle = {name: statistics.median(t) for name, t in times.items()}
    base = middle["command"]
    print(f"freefloat run           {1e3 * base:7.1f} ms")
    for name in ("run with files", "run"):
        print(f"ff.{name:20} {1e3 * middle[name]:7.1f} ms, {100 * (middle[name] / base - 1):+.1f} %")
    print(f"import freefloat        {1e3 * middle['import']:7.1f} ms, numpy apart")

    # the same cycles stepped from Python and in one call, in turns
    count, each = 20, 50000
    sim = ff.Simulation(SCENARIO, "tdpa", {"time.duration": 2 * count * each * 0.004}, record=False, reference=False)
    step, stepped, whole = sim.step, [], []
    for _ in range(count):
        before = time.process_time()
        for _ in range(each):
            step()
        stepped.append(time.process_time() - before)
        whole.append(of_call(lambda: sim.advance(each)))
    over = statistics.median(s - w for s, w in zip(stepped, whole)) / each
    print(f"sim.step()              {1e6 * over:7.2f} us over the cycle itself ({1e6 * statistics.median(whole) / each:.2f} us), "
          f"{count * each} calls")

    def method(cycle):
        body = cycle.bodies[0]
        body.out_force[:] = body.force
    slow, fast = [], []
    for _ in range(rounds):
        slow.append(of_call(lambda: ff.run(SCENARIO, method, reference=False)))
        fast.append(of_call(lambda: ff.run(SCENARIO, "direct", reference=False)))
    over = statistics.median(s - f for s, f in zip(slow, fast)) / 7500
    print(f"a method in Python      {1e6 * over:7.2f} us a cycle over `direct`")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
