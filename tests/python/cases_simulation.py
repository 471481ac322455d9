"""Stepping: the same bits as a run, whatever is saved and restored on the path; what acts between two cycles."""
import os
import pickle
import subprocess
import sys
import threading
import unittest

import numpy as np

import freefloat as ff
from support import CAPTURE, DEOS, SCENARIOS, SOURCE, Case


class Branches(Case):
    def branch(self, scenario, cycles, **options):
        """A run that is saved somewhere, disturbed, restored, and one that continues elsewhere: all end alike."""
        whole = ff.run(scenario, **options)
        sim = ff.Simulation(scenario, **options)
        at = self.random.randrange(1, cycles)
        self.assertEqual(sim.advance(at), at)
        state = sim.save()
        self.same([state.k], [at])
        self.assertEqual(bytes(sim.save().data), state.data)
        if options.get("method") != "ideal":
            sim.push(0, force=[50, 0, 20], torque=[1, 2, 3])
            sim.load(0, torque=[0, 0, 1])
        sim.advance(self.random.randrange(1, cycles - at + 1))
        sim.restore(state)
        other = ff.Simulation(scenario, **options)
        other.restore(state)
        for s in (sim, other):
            while s.step():
                pass
            made = s.finish()
            self.same_columns(made.columns, whole.columns)
            self.same_summary(made.summary, whole.summary)

    def test_a_limit_ends_it(self):
        """Cycles in which a stop brakes have no row and are no steps: what ended the run is raised by the call that met it."""
        sim = ff.Simulation(os.path.join(SCENARIOS, "template.yaml"), method="tdpa", reference=False)
        self.assertEqual(sim.advance(5), 5)
        sim.command("client", [0.03, 0, 0])
        with self.assertRaisesRegex(ff.RunError, "FAULT, LAG"):
            sim.advance(20)
        self.assertLess(sim.k, 25)
        self.assertTrue(sim.ended)

    def test_methods(self):
        for method in ("ideal", "direct", "tdpa", "damping", "impact", "fused"):
            with self.subTest(method=method):
                self.branch(DEOS, 1000, method=method, set={"time.duration": 4})

    def test_noise_delay_and_losses(self):
        self.branch(DEOS, 1000, method="fused", set={
            "time.duration": 4, "time.seed": self.random.randrange(1 << 30),
            "satellites.client.robot": {"kind": "delay", "delay": 0.037, "jitter": 0.002, "lost": 0.01},
            "satellites.client.sensor": {"kind": "noisy", "force_noise": 0.3, "torque_noise": 0.02, "delay": 0.0031,
                                         "bandwidth": 40, "lost": 0.02}})

    def test_episodes(self):
        """One Simulation over and over from one state, as who learns or searches does: after its last cycle, after a
        failure, after Ctrl-C in a part; until finish()."""
        fails = []

        def method(cycle):
            if fails and cycle.k == 300:
                raise fails.pop()
        sim = ff.Simulation(DEOS, method, {"time.duration": 2})
        sim.advance(self.random.randrange(300))
        state, ends = sim.save(), []
        for failure in (None, ValueError("no"), KeyboardInterrupt(), None):
            if failure:
                fails.append(failure)
                with self.assertRaises((ff.CallbackError, KeyboardInterrupt)) as caught:
                    while sim.step():
                        pass
                self.assertEqual(len(caught.exception.run.columns["t"]), 301)
                self.assertEqual(caught.exception.run.summary["verdict"], "fail")
                with self.assertRaises((ff.CallbackError, KeyboardInterrupt)):
                    sim.step()
            else:
                while sim.step():
                    pass
                self.assertFalse(sim.step())
                ends.append((sim.row.copy(), sim.columns["client.velocity.z"].copy()))
            self.assertTrue(sim.ended)
            sim.restore(state)
            self.assertEqual((sim.ended, sim.k), (False, state.k))
        for a, b in zip(*ends):
            self.same(a, b)
        while sim.step():
            pass
        run = sim.finish()
        self.same_columns(run.columns, ff.run(DEOS, method, {"time.duration": 2}).columns)
        with self.assertRaisesRegex(ff.StateError, "finish"):
            sim.restore(state)
        fails.append(ValueError("no"))  # the report of one that failed
        with self.assertRaises(ff.CallbackError) as caught:
            ff.Simulation(DEOS, method, {"time.duration": 2}).advance(1000)
        self.assertIn("iframe", caught.exception.run._repr_html_())

    def test_an_arm_with_its_software(self):
        self.branch(CAPTURE, 100, set={"time.duration": 0.4})

    def test_robots_and_limits(self):
        for robot in ({"kind": "lag", "delay": 0.02, "frequency": 8}, {"kind": "limited", "delay": 0.02, "velocity": 0.05}):
            with self.subTest(**robot):
                self.branch(DEOS, 500, method="tdpa", set={"time.duration": 2, "satellites.client.robot": robot})
        self.branch(DEOS, 500, method="tdpa", set={"time.duration": 2, "satellites.client.limits": {"velocity": 0.05}})
        self.branch(os.path.join(SCENARIOS, "template.yaml"), 100, method="direct", set={"time.duration": 0.4})

    def test_wrong_states(self):
        sim = ff.Simulation(DEOS, set={"time.duration": 2}, record=False)
        sim.advance(10)
        state = sim.save()
        self.assertLess(len(state), 1 << 20)
        for other in (ff.Simulation(DEOS, set={"time.duration": 3}, record=False), ff.Simulation(DEOS, "direct", {"time.duration": 2}),
                      ff.Simulation(DEOS, set={"time.duration": 2})):
            with self.assertRaisesRegex(ff.StateError, "another scenario"):
                other.restore(state)
            other.advance(2)
        for at in (0, 9, 40, self.random.randrange(48, len(state)), len(state) - 1):
            damaged = bytearray(state.data)
            damaged[at] ^= 1 << self.random.randrange(8)
            with self.assertRaises(ff.StateError):
                sim.restore(ff.State(bytes(damaged), 0, 0))
        for short in (0, 20, len(state) - 1):
            with self.assertRaises(ff.StateError):
                sim.restore(ff.State(state.data[:short], 0, 0))
        with self.assertRaises(ff.StateError):
            sim.restore(state.data)
        before = sim.k
        sim.advance(1)
        self.assertEqual(sim.k, before + 1)
        files = ff.Simulation(DEOS, set={"time.duration": 2}, out=os.path.join(self.folder, "x"))
        with self.assertRaisesRegex(ff.StateError, "log"):
            files.save()
        library = os.path.join(os.environ["FF_BUILD_DIR"], "examples", "libobsw_hold.so")
        software = ff.Simulation(CAPTURE, set={"time.duration": 0.4}, obsw=library, reference=False)
        software.advance(5)
        with self.assertRaisesRegex(ff.StateError, "process of its own"):
            software.save()


class Acting(Case):
    def test_a_load_is_that_of_a_scenario(self):
        force = [self.random.uniform(-5, 5) for _ in range(3)]
        torque = [self.random.uniform(-1, 1) for _ in range(3)]
        load = [{"body": "client", "kind": "pulse", "force": force, "torque": torque, "from": 0.1, "to": 0.3}]
        whole = ff.run(DEOS, "tdpa", {"time.duration": 0.6, "loads": load})
        sim = ff.Simulation(DEOS, "tdpa", {"time.duration": 0.6})
        sim.advance(25)
        sim.load("client", force, torque)
        sim.advance(50)
        sim.load("client")
        while sim.step():
            pass
        for name in ("velocity.x", "velocity.z", "angular_velocity.y", "load_force.x", "load_torque.z"):
            self.same(sim.columns[f"client.{name}"], whole.columns[f"client.{name}"], name)

    def test_a_push_is_felt(self):
        """direct, no delay: m v' = F, by lie-midpoint an impulse in each cycle."""
        sim = ff.Simulation(DEOS, "direct", {"time.duration": 0.4, "satellites.client.robot": {"kind": "ideal"},
                                             "satellites.client.angular_velocity": [0, 0, 0], "contacts": []})
        v = sim.step() and sim["client.velocity.x"]
        sim.push("client", force=[28, 0, 0])
        n = sim.advance(50)
        sim.step()
        self.assertAlmostEqual(sim["client.velocity.x"] - v, n * 0.004 * 28 / 280, delta=1e-14)
        self.assertEqual(sim["client.force_measured.x"], 28)

    def test_a_command_is_sent(self):
        sim = ff.Simulation(DEOS, "direct", {"time.duration": 1, "satellites.client.robot": {"kind": "ideal"}})
        sim.advance(5)
        sim.command("client", position=[1, 2, 3], attitude=[0, 1, 0, 0])
        sim.advance(2)
        self.same([sim[f"client.robot.position.{a}"] for a in "xyz"], [1.0, 2.0, 3.0])
        self.same([sim[f"client.command.attitude.{a}"] for a in "wxyz"], [0.0, 1.0, 0.0, 0.0])
        sim.command("client")
        sim.advance(2)
        self.assertLess(abs(sim["client.robot.position.x"]), 0.1)

    def test_bad_values(self):
        sim = ff.Simulation(DEOS, set={"time.duration": 1})
        for bad in ([1, 2], [1, 2, np.nan], ["a", "b", "c"], [[1, 2, 3]], None, [1, 2, np.inf], [1j, 0, 0]):
            with self.assertRaises(ff.ArgumentError):
                sim.push("client", force=bad)
        with self.assertRaisesRegex(ff.ArgumentError, "client"):
            sim.load("servicer", [0, 0, 0])
        with self.assertRaisesRegex(ff.ArgumentError, "unit quaternion"):
            sim.command("client", [0, 0, 0], [5, 0, 0, 0])
        with self.assertRaises(KeyError):
            sim["client.velocty.x"]
        with self.assertRaisesRegex(ff.ArgumentError, "ideal"):
            ff.Simulation(DEOS, "ideal", {"time.duration": 1}).push("client")
        with self.assertRaises((ff.ScenarioError, ff.MethodError, ff.FilesError)):
            ff.Simulation(os.path.join(SCENARIOS, "planar-arm-emulation.yaml"))

    def test_ends(self):
        sim = ff.Simulation(DEOS, set={"time.duration": 1})
        self.assertEqual(sim.summary["verdict"] in ("pass", "fail"), True)
        sim.advance(100)
        run = sim.finish()
        self.assertEqual((run.verdict, len(run.t), sim.finish() is run), ("fail", 100, True))
        self.assertFalse(sim.step())
        with self.assertRaises(ff.StateError):
            sim.restore(ff.State(b"", 0, 0))
        wild = ff.Simulation(DEOS, "direct", {"time.duration": 1000, "satellites.client.robot.delay": 0.2}, record=False)
        with self.assertRaises(ff.RunError):
            while wild.step():
                pass
        with self.assertRaises(ff.RunError):
            wild.step()

    def test_two_threads(self):
        whole = ff.run(DEOS, "tdpa", {"time.duration": 2})
        made = []

        def work():
            sim = ff.Simulation(DEOS, "tdpa", {"time.duration": 2})
            while sim.step():
                pass
            made.append(sim.finish())
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for run in made:
            self.same_columns(run.columns, whole.columns)



class Left(Case):
    def test_a_run_that_is_left_with_its_log_open(self):
        """The rows are in its folder, and the interpreter ends as it should, whether it was deleted or is still there."""
        for last in ("", "del sim", "sim.cycle_of_its_own = sim"):
            out = os.path.join(self.folder, str(len(last)))
            code = (f"import freefloat as ff\nsim = ff.Simulation({DEOS!r}, 'tdpa', out={out!r}, log='csv,mcap', "
                    f"reference=False)\nsim.advance(100)\n{last}\n")
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), last)
        logs = [os.path.join(d, f) for d, _, files in os.walk(self.folder) for f in files if f == "log.csv"]
        self.assertGreaterEqual(len(logs), 2)
        with open(logs[0], encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 101)

    def test_one_simulation_in_several_threads(self):
        """Who comes second is refused, and the run goes on: one thread at a time, and all its cycles are there."""
        sim = ff.Simulation(DEOS, "tdpa", {"time.duration": 200}, record=["client.velocity.*"], reference=False)
        done, refused = [], []

        def work():
            for _ in range(5000):
                try:
                    done.append(sim.step())
                except ff.ArgumentError:
                    refused.append(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(done) + len(refused), 20000)
        self.assertEqual(sim.k, len(done))
        alone = ff.Simulation(DEOS, "tdpa", {"time.duration": 200}, record=["client.velocity.*"], reference=False)
        alone.advance(len(done))
        self.same(sim.columns["client.velocity.z"], alone.columns["client.velocity.z"])

    def test_a_part_that_steps_its_own_simulation(self):
        seen = []

        def method(cycle):
            for call in (sim.step, lambda: sim.advance(2), sim.finish, sim.save, lambda: sim.load("client")):
                try:
                    call()
                except (ff.ArgumentError, ff.StateError) as error:
                    seen.append(str(error))
        sim = ff.Simulation(DEOS, method, {"time.duration": 1}, reference=False)
        sim.advance(10)
        self.assertEqual((len(seen), sim.k), (50, 10))
        self.assertTrue(all("in use" in s for s in seen), set(seen))

    def test_states_of_other_options(self):
        state = ff.Simulation(DEOS, "tdpa").save()
        for options in ({"reference": False}, {"contacts": {"front": lambda d, rate: 0.0}}, {"record": False}):
            with self.assertRaises(ff.StateError):
                ff.Simulation(DEOS, "tdpa", **options).restore(state)
        for bad in (-1, 1.5, "a", np.nan, 2**70):
            with self.assertRaises(ff.ArgumentError):
                ff.Simulation(DEOS, "tdpa", reference=False).advance(bad)
        with self.assertRaises(TypeError):
            pickle.dumps(ff.Simulation(DEOS, "tdpa", reference=False))
        self.assertEqual(pickle.loads(pickle.dumps(state.data)), state.data)


if __name__ == "__main__":
    os.chdir(SOURCE)
    unittest.main(verbosity=2)
