"""Parts that are brought: as Python functions, as C by path; what they raise; the numerics alone."""
import gc
import os
import subprocess
import unittest

import numpy as np

import freefloat as ff
from support import CAPTURE, DEOS, SCENARIOS, SOURCE, Case

SHORT = {"time.duration": 3}


class Functions(Case):
    def test_a_method(self):
        """One that answers with what was measured is `direct`, to the bit but for when it says that it touches."""
        def mine(cycle):
            body = cycle.bodies[0]
            body.out_force[:] = body.force
            body.out_torque[:] = body.torque
            cycle.state[0] += 1
            assert cycle.state[0] == cycle.k + 1
        run, direct = ff.run(DEOS, mine, SHORT), ff.run(DEOS, "direct", SHORT)
        self.assertEqual((run.method, run.summary["method"]), ("mine", "mine"))
        for name in direct.columns:
            if not name.startswith("timing") and "in_contact" not in name:
                self.same(run.columns[name], direct.columns[name], name)
        sim = ff.Simulation(DEOS, mine, SHORT)
        sim.advance(self.random.randrange(1, 700))
        state = sim.save()
        sim.advance(20)
        sim.restore(state)
        while sim.step():
            pass
        self.same_columns(sim.finish().columns, run.columns)

    def test_names_of_methods(self):
        for name in ("tdpa", "ideal", "a b", "", "x" * 40):
            with self.assertRaises(ff.MethodError):
                ff.run(DEOS, lambda cycle: None, SHORT, name=name or " ")

    def test_a_contact_and_a_sensor(self):
        plain = ff.run(DEOS, "direct", SHORT)
        law = ff.run(DEOS, "direct", SHORT, contacts={"front": lambda d, rate: 2000 * d + 5 * rate})
        self.same(law.columns["client.velocity.z"], plain.columns["client.velocity.z"])
        # the reference solves the same law by steps, where the wall has a closed form
        difference = np.abs(law.columns["client.ideal.velocity.z"] - plain.columns["client.ideal.velocity.z"]).max()
        self.assertLess(difference, 1e-11)
        sensor = ff.run(DEOS, "direct", SHORT, sensors={"client": lambda t, f: f})
        self.same(sensor.columns["client.velocity.z"], plain.columns["client.velocity.z"])
        deaf = ff.run(DEOS, "direct", SHORT, sensors={"client": lambda t, f: np.zeros(6)})
        self.assertEqual(np.ptp(deaf.columns["client.velocity.z"]), 0)

    def test_software(self):
        seen = []

        def software(board):
            seen.append(board.sequence)
            board.force[:] = [1, 2, 3]
            board.joint_torque[:] = 0.01
            board.phase(7)
        run = ff.run(CAPTURE, set={"time.duration": 0.2}, obsw=software)
        self.assertEqual(seen, [*range(51), *range(51)] if len(seen) == 102 else [*range(51), *range(50)])
        servicer = next(n for n in run.columns if n.endswith(".thrust_force.x"))[:-len(".thrust_force.x")]
        self.same(run.columns[f"{servicer}.thrust_force.z"][:50], np.full(50, 3.0))
        self.same(run.columns[f"{servicer}.obsw.phase"][:50], np.full(50, 7.0))

    def test_what_raises(self):
        """The run stops in that cycle, the cause is there with its traceback, and so are the rows before."""
        at = self.random.randrange(2, 700)

        def method(cycle):
            if cycle.k == at:
                raise ValueError("no more")
        with self.assertRaisesRegex(ff.CallbackError, "ValueError: no more") as caught:
            ff.run(DEOS, method, SHORT, out=os.path.join(self.folder, "kept"))
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        self.assertIsNotNone(caught.exception.__cause__.__traceback__)
        self.assertEqual(len(caught.exception.run.columns["t"]), at + 1)
        self.assertEqual(caught.exception.run.summary["verdict"], "fail")
        self.assertTrue(os.path.exists(os.path.join(self.folder, "kept", "log.csv")))
        cases = [({"contacts": {"front": lambda d, rate: 1 / 0}}, ZeroDivisionError),
                 ({"contacts": {"front": lambda d, rate: "much"}}, ValueError),
                 ({"sensors": {"client": lambda t, f: f[:3]}}, ValueError),
                 ({"contacts": {"front": lambda d, rate: "3"}}, ff.ArgumentError),
                 ({"contacts": {"front": lambda d, rate: True}}, ff.ArgumentError),
                 ({"contacts": {"front": lambda d, rate: float("nan")}}, ff.ArgumentError),
                 ({"contacts": {"front": lambda d, rate: np.inf}}, ff.ArgumentError),
                 ({"sensors": {"client": lambda t, f: 3.0}}, ff.ArgumentError),
                 ({"sensors": {"client": lambda t, f: f + 1j}}, ff.ArgumentError),
                 ({"sensors": {"client": lambda t, f: np.full(6, np.nan)}}, ff.ArgumentError)]
        for options, kind in cases:
            with self.assertRaises(ff.CallbackError) as caught:
                ff.run(DEOS, "direct", SHORT, **options)
            self.assertIsInstance(caught.exception.__cause__, kind)

        def software(board):
            raise OSError("gone")
        with self.assertRaises(ff.CallbackError) as caught:
            ff.run(CAPTURE, set={"time.duration": 0.2}, obsw=software)
        self.assertIsInstance(caught.exception.__cause__, OSError)

        def nan(cycle):
            cycle.bodies[0].out_force[0] = np.nan
        with self.assertRaises(ff.RunError):
            ff.run(DEOS, nan, SHORT)
        sim = ff.Simulation(DEOS, method, SHORT)
        with self.assertRaises(ff.CallbackError):
            while sim.step():
                pass

    def test_what_is_kept_of_a_run(self):
        """Arrays that a part was given may outlive the run: they are as they were, and writing harms nothing."""
        kept = {}

        def method(cycle):
            kept["force"], kept["out"], kept["state"] = cycle.bodies[0].force, cycle.bodies[0].out_force, cycle.state
            cycle.state[:] = 5

        def sensor(t, f):
            kept["reading"] = f

        def software(board):
            kept["q"], kept["thrust"] = board.q, board.force
            board.force = [1, 2, 3]
        ff.run(DEOS, method, {"time.duration": 0.1}, sensors={"client": sensor})
        ff.run(CAPTURE, set={"time.duration": 0.1}, obsw=software)
        copies = {name: array.copy() for name, array in kept.items()}
        gc.collect()
        filled = [np.full(64 + i, 7.0) for i in range(5000)]  # what was freed is used again
        for name, array in kept.items():
            self.same(array, copies[name], name)
            if array.flags.writeable:
                array[:] = 3
        self.assertTrue(all((f == 7).all() for f in filled))
        self.same(copies["state"], np.full(256, 5.0))
        self.same(copies["thrust"], [1.0, 2.0, 3.0])

    def test_to_set_is_to_write(self):
        """`body.out_force = f` is `body.out_force[:] = f`; what is read only, or is a function, says so."""
        def method(cycle):
            cycle.bodies[0].out_force = cycle.bodies[0].force * 0.5

        def same(cycle):
            cycle.bodies[0].out_force[:] = cycle.bodies[0].force * 0.5
        self.same_columns(ff.run(DEOS, method, SHORT).columns, ff.run(DEOS, same, SHORT).columns)

        def board(b):
            b.phase = 7
        for wrong in (lambda c: setattr(c.bodies[0], "force", [0, 0, 0]), lambda c: setattr(c, "t", 3),
                      lambda c: setattr(c.bodies[0], "out_forse", [0, 0, 0]), lambda c: c.bodies[0].force.fill(0),
                      lambda c: setattr(c.bodies[0], "out_force", [0, 0]), lambda c: setattr(c.bodies[0], "out_force", 5),
                      lambda c: setattr(c.bodies[0], "out_force", True), lambda c: setattr(c.bodies[0], "out_force", "5"),
                      lambda c: setattr(c.bodies[0], "out_force", [0, np.nan, 0]), lambda c: np.zeros(3)):
            with self.assertRaises(ff.CallbackError) as caught:
                ff.run(DEOS, wrong, SHORT)
            self.assertIsInstance(caught.exception.__cause__, (AttributeError, ValueError, ff.ArgumentError))
        with self.assertRaisesRegex(ff.CallbackError, "'force' has nan in it"):
            ff.run(CAPTURE, set={"time.duration": 0.1}, obsw=lambda b: setattr(b, "force", [0, 0, float("nan")]))
        with self.assertRaisesRegex(ff.CallbackError, "'phase' cannot be set, allowed: force, torque, joint_torque"):
            ff.run(CAPTURE, set={"time.duration": 0.1}, obsw=board)

    def test_names_that_are_not_there(self):
        for options in ({"contacts": {"nowhere": lambda d, r: 0}}, {"sensors": {"nobody": lambda t, f: f}},
                        {"contacts": {"front": 3}}, {"obsw": lambda board: None}, {"contacts": {"front": "./none.so"}}):
            with self.assertRaises(ff.ArgumentError):
                ff.run(DEOS, set=SHORT, **options)


class Libraries(Case):
    def test_c_by_path(self):
        path = os.path.join(self.folder, "laws")
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write("#include <freefloat_host.h>\n"
                       "ffh_contact_law contact_law, soft;\nffh_sensor_law sensor_law;\n"
                       "double contact_law(void *u, double d, double rate) { (void)u; return 2000 * d + 5 * rate; }\n"
                       "double soft(void *u, double d, double rate) { (void)u; (void)rate; return 500 * d; }\n"
                       "int sensor_law(void *u, double t, double *f) { (void)u; (void)t; f[2] *= 0.5; return 0; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-std=c11", "-Wall", "-Werror", "-I", os.path.join(SOURCE, "host", "abi"),
                        "-o", path + ".so", path + ".c"], check=True)
        plain = ff.run(DEOS, "direct", SHORT)
        law = ff.run(DEOS, "direct", SHORT, contacts={"front": path + ".so"})
        self.same(law.columns["client.velocity.z"], plain.columns["client.velocity.z"])
        soft = ff.run(DEOS, "direct", SHORT, contacts={"front": path + ".so:soft"})
        slow = ff.run(DEOS, "direct", SHORT, contacts={"front": lambda d, rate: 500 * d})
        self.same_columns(soft.columns, slow.columns)
        half = ff.run(DEOS, "direct", SHORT, sensors={"client": path + ".so"})
        other = ff.run(DEOS, "direct", SHORT, sensors={"client": lambda t, f: f * [1, 1, 0.5, 1, 1, 1]})
        self.same_columns(half.columns, other.columns)

    def test_a_method_library(self):
        library = os.path.join(os.environ["FF_BUILD_DIR"], "examples", "libmethod_example.so")
        if not os.path.exists(library):
            library = library.replace("libmethod", "method")
        run = ff.run(DEOS, library, SHORT)
        self.assertNotIn(run.method, ("direct", "tdpa"))
        sim = ff.Simulation(DEOS, library, SHORT)
        sim.advance(300)
        state = sim.save()
        sim.advance(100)
        sim.restore(state)
        while sim.step():
            pass
        self.same_columns(sim.finish().columns, run.columns)
        with self.assertRaises(ff.MethodError):
            ff.run(DEOS, os.path.join(SOURCE, "README.md"), SHORT)


class Numerics(Case):
    def generator(self):
        return np.random.default_rng(self.random.randrange(1 << 30))

    def test_a_free_body(self):
        r = self.generator()
        for integrator in ("lie-midpoint", "euler", "passive", "splitting"):
            body = ff.RigidBody(r.uniform(10, 500), r.uniform(15, 20, 3))
            x = body.state(r.normal(size=3), [1, 0, 0, 0], r.normal(size=3), 0.1 * r.normal(size=3))
            force = r.normal(size=3)
            path, energy = body.advance(x, 0.004, 250, load=[*force, 0, 0, 0], integrator=integrator, energies=True)
            # every joule is accounted for: 250 sums, each rounded
            self.assertLess(abs(body.energy(path[-1]) - body.energy(x) - energy.sum()), 1e3 * 2.3e-16 * body.energy(path).max())
            np.testing.assert_allclose(path[-1, 7:10], x[7:10] + force / body.mass, rtol=1e-12, atol=1e-14)
        path = body.advance(x, 0.001, 1000)
        np.testing.assert_allclose(body.momentum(path)[-1, :3], body.momentum(x)[:3], rtol=1e-14)
        np.testing.assert_allclose(np.linalg.norm(body.momentum(path)[-1, 3:]), np.linalg.norm(body.momentum(x)[3:]), rtol=1e-12)

    def test_a_tree(self):
        r = self.generator()
        for base in (None, ff.RigidBody(2000, [900, 1000, 1100])):
            tree = ff.Tree.from_urdf(os.path.join(SCENARIOS, "envisat-arm.urdf"), base)
            self.assertEqual((tree.joints, tree.dof, len(tree.names)), (7, 7 if base is None else 13, 7))
            q, v, a = r.uniform(-1, 1, (6, 7)), r.normal(size=(6, tree.dof)), r.normal(size=(6, tree.dof))
            gravity = [0, 0, -9.81]
            force = tree.inverse_dynamics(q, v, a, gravity)
            np.testing.assert_allclose(tree.forward_dynamics(q, v, force, gravity), a, rtol=1e-9, atol=1e-10)
            M = tree.mass_matrix(q)
            np.testing.assert_allclose(np.einsum("nij,nj->ni", M, a) + tree.bias(q, v, gravity), force, rtol=1e-11, atol=1e-9)
            np.testing.assert_allclose(np.einsum("ni,nij,nj->n", v, M, v) / 2, tree.kinetic_energy(q, v), rtol=1e-12)
            np.testing.assert_array_equal(M[3], tree.mass_matrix(q[3]))
            # the Jacobian is the derivative of the pose: the joints' linear part, turned into inertial axes
            h, joint = 1e-6, int(r.integers(7))
            step = np.eye(7)[joint] * h
            slope = (tree.pose(q[0] + step)[:3] - tree.pose(q[0] - step)[:3]) / (2 * h)
            w, x, y, z = tree.pose(q[0])[3:]
            R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                          [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                          [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
            np.testing.assert_allclose(R @ tree.jacobian(q[0])[3:, tree.dof - 7 + joint], slope, atol=1e-8)

    def test_what_a_log_says(self):
        delay = self.random.choice([0.02, 0.032, 0.04])
        run = ff.run(DEOS, "tdpa", {"satellites.client.robot.delay": delay})
        self.assertAlmostEqual(ff.identify(run, "delay")["client"]["delay_s"], delay, delta=1e-6)
        self.assertAlmostEqual(ff.identify(run.columns, "contact", "client")["client"]["stiffness_Npm"], 2000, delta=0.01)
        out = os.path.join(self.folder, "r")
        ff.run(DEOS, "tdpa", {"satellites.client.robot.delay": delay}, out=out)
        self.assertEqual(ff.identify(os.path.join(out, "log.csv"), "delay")["client"], ff.identify(run, "delay")["client"])
        with self.assertRaisesRegex(ff.RunError, "gravity"):
            ff.identify(run, "payload")
        for bad in (lambda: ff.identify(run, "colour"), lambda: ff.identify({"x": [1, 2]}, "delay"),
                    lambda: ff.identify({"t": [1, 2], "x": [1]}, "delay"), lambda: ff.identify(run, "delay", "nobody")):
            with self.assertRaises((ff.ArgumentError, ff.ScenarioError)):
                bad()

    def test_passivity(self):
        """A spring with damping takes energy; one that is felt 40 ms late gives it back with more."""
        t = np.arange(0, 10, 0.004)
        x, v = np.sin(3 * t), 3 * np.cos(3 * t)
        self.assertGreater(ff.passivity(200 * x + 5 * v, v, 0.004)[-1], 0)
        late = ff.passivity(200 * np.sin(3 * (t - 0.04)), v, 0.004)
        # int f v dt over time t: -200*3*sin(3*0.04)/2 * t, and a part that swings
        self.assertAlmostEqual(late[-1], -200 * 3 * np.sin(0.12) / 2 * 10, delta=200)
        with self.assertRaises(ff.ArgumentError):
            ff.passivity([1, 2], [1, 2, 3], 0.004)
        with self.assertRaises(ff.ArgumentError):
            ff.passivity([1, np.nan], [1, 2], 0.004)

    def test_bad_numbers(self):
        tree = ff.Tree.from_urdf(os.path.join(SCENARIOS, "envisat-arm.urdf"))
        body = ff.RigidBody(10, [1, 1, 1])
        for bad in (lambda: tree.mass_matrix([1, 2]), lambda: tree.mass_matrix(np.full(7, np.nan)),
                    lambda: tree.mass_matrix(["a"] * 7), lambda: tree.pose(np.zeros(7), link=99),
                    lambda: tree.mass_matrix(np.zeros((2, 3, 7))), lambda: tree.mass_matrix(np.zeros(7, dtype=complex)),
                    lambda: ff.RigidBody(-1, [1, 1, 1]), lambda: ff.RigidBody(1, [1, 1, 9]), lambda: ff.RigidBody(1, [1, 2]),
                    lambda: body.advance(body.state(), -1), lambda: body.advance(body.state(), 0.1, integrator="rk4"),
                    lambda: body.advance(np.zeros(13), 0.1), lambda: body.advance(body.state(), 0.1, 3, load=np.zeros((2, 6)))):
            with self.assertRaises(ff.ArgumentError):
                bad()
        with self.assertRaises(ff.FilesError):
            ff.Tree.from_urdf("none.urdf")
        with self.assertRaises(ff.ScenarioError) as caught:
            ff.Tree.from_urdf(DEOS)
        self.assertEqual(caught.exception.line, 1)


if __name__ == "__main__":
    os.chdir(SOURCE)
    unittest.main(verbosity=2)
