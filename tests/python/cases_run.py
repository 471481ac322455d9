"""Runs, comparisons, campaigns: the command's bits, its errors as exceptions, Ctrl-C, threads."""
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

import numpy as np

import freefloat as ff
from support import CAPTURE, DEOS, SCENARIOS, SOURCE, Case, command, read_csv, read_json


class Bits(Case):
    def draw(self):
        """Overrides for deos-client: another body, another robot and sensor."""
        r = self.random
        return {"satellites.client.mass": r.uniform(100, 1000),
                "satellites.client.velocity": [r.uniform(-0.02, 0.02) for _ in range(3)],
                "satellites.client.robot.delay": r.uniform(0, 0.05),
                "satellites.client.sensor": {"kind": "noisy", "force_noise": r.uniform(0, 0.5), "delay": r.choice([0, 0.003])},
                "time.duration": 4, "time.seed": r.randrange(1, 1 << 30)}

    def test_log_and_summary(self):
        for method in ("ideal", "direct", "tdpa", "damping", "impact", "fused"):
            with self.subTest(method=method):
                sets = self.draw()
                out = os.path.join(self.folder, method)
                run = ff.run(DEOS, method, sets)
                status, _, said = command("run", DEOS, "--method", method, "--quiet", "--out", out,
                                          *(x for k, v in sets.items() for x in ("--set", f"{k}={v}".replace("'", '"'))))
                self.assertEqual(status, 0, said)
                self.same_columns(run.columns, read_csv(os.path.join(out, "log.csv")))
                self.same_summary(run.summary, read_json(os.path.join(out, "summary.json")))

    def test_with_a_folder(self):
        """The same files as the command's, and the columns as well."""
        out = os.path.join(self.folder, "mine")
        run = ff.run(DEOS, "tdpa", {"time.duration": 2}, out=out, log="csv,mcap")
        self.assertEqual(run.folder, out)
        self.same_columns(run.columns, read_csv(os.path.join(out, "log.csv")))
        with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), run.summary_text)
        self.assertEqual(command("verify", out)[0], 0)
        with self.assertRaises(ff.FilesError):
            os.makedirs(os.path.join(self.folder, "other"))
            open(os.path.join(self.folder, "other", "letter"), "w").close()
            ff.run(DEOS, set={"time.duration": 2}, out=os.path.join(self.folder, "other"))

    def test_an_arm_and_an_emulation(self):
        run = ff.run(CAPTURE, set={"time.duration": 0.4})
        out = os.path.join(self.folder, "arm")
        self.assertEqual(command("run", CAPTURE, "--set", "time.duration=0.4", "--quiet", "--out", out)[0], 0)
        self.same_columns(run.columns, read_csv(os.path.join(out, "log.csv")))
        emulation = os.path.join(SCENARIOS, "planar-arm-emulation.yaml")
        run = ff.run(emulation)
        out = os.path.join(self.folder, "emulation")
        self.assertEqual(command("run", emulation, "--quiet", "--out", out)[0], 0)
        log = read_csv(os.path.join(out, "log.csv"))
        for name, values in log.items():
            self.same(run.columns[name], values, name)
        self.same_summary(run.summary, read_json(os.path.join(out, "summary.json")))

    def test_text(self):
        with open(DEOS, encoding="utf-8") as file:
            text = file.read()
        a = ff.run(DEOS, set={"time.duration": 1})
        b = ff.run("from a notebook", text=text, set={"time.duration": 1})
        self.same_columns(a.columns, b.columns)

    def test_compare(self):
        made = ff.compare(DEOS, "ideal,direct,tdpa:reading=printed", set={"time.duration": 2})
        self.assertEqual(list(made), ["ideal", "direct", "tdpa:reading=printed"])
        self.assertEqual(made["direct"].verdict, ff.run(DEOS, "direct", {"time.duration": 2}).verdict)
        page = made.report(os.path.join(self.folder, "page.html"))
        with open(page, encoding="utf-8") as file:
            self.assertIn("tdpa:reading=printed", file.read())
        refused = ff.compare(CAPTURE, ["impact", "direct"], set={"time.duration": 0.1})
        self.assertEqual(list(refused), ["direct"])
        self.assertEqual(list(refused.refused), ["impact"])

    def test_campaign(self):
        path = os.path.join(self.folder, "c.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""{{name: small, base: {DEOS}, seed: {self.random.randrange(1000)}, samples: 5,
 methods: [direct, 'tdpa:reading=printed'],
 vary: {{satellites.client.robot.delay: {{uniform: [0.001, 0.05]}}, time.duration: {{list: [2, 3]}}}},
 metrics: {{rebound: rebound_error, peak: satellites.client.contacts.0.peak_force_N}}}}""")
        out = os.path.join(self.folder, "out")
        self.assertEqual(command("campaign", path, "--quiet", "--out", out)[0], 0)
        table = ff.campaign(path, threads=2)
        self.assertEqual(table.methods, ["direct", "tdpa:reading=printed"])
        self.assertEqual((table.samples, table.varied, table.metrics),
                         (10, ["satellites.client.robot.delay", "time.duration"], ["rebound", "peak"]))
        with open(os.path.join(out, "results.csv"), encoding="utf-8") as file:
            names = file.readline().strip().split(",")
            rows = [line.rstrip("\n").split(",") for line in file]
        at = {name.split(" [")[0]: i for i, name in enumerate(names)}
        self.assertEqual(len(rows), 20)
        for i, row in enumerate(rows):
            sample, method = divmod(i, 2)
            for name in table.metrics:
                text = row[at[name]]
                self.same([table[name][sample, method]], [float(text) if text else np.nan], name)
            for name in table.varied:
                self.assertEqual(table[name][sample], float(row[at[name]]))
        as_dict = ff.campaign({"name": "small", "base": os.path.relpath(DEOS), "samples": 2, "methods": ["direct"],
                               "vary": {"satellites.client.mass": {"uniform": [200, 300]}},
                               "metrics": {"rebound": "rebound_error"}, "seed": 1}, threads=1)
        self.assertEqual(as_dict["rebound"].shape, (2, 1))


class Views(Case):
    def test_no_copy(self):
        run = ff.run(DEOS, set={"time.duration": 1})
        v = run.columns["client.velocity.z"]
        self.assertEqual(v.__array_interface__["data"], run.columns["client.velocity.z [m/s]"].__array_interface__["data"])
        self.assertFalse(v.flags.owndata)
        self.assertEqual(run.columns.units["client.velocity.z"], "m/s")
        with self.assertRaises(ValueError):
            v[0] = 1
        before = v.copy()
        del run
        gc.collect()
        junk = [ff.run(DEOS, set={"time.duration": 1, "satellites.client.mass": 5}) for _ in range(3)]
        self.same(v, before)
        self.assertEqual(len(junk), 3)

    def test_choice_of_columns(self):
        run = ff.run(DEOS, set={"time.duration": 1}, record=["t", "client.velocity.*"])
        self.assertEqual(list(run.columns), ["t", *(f"client.velocity.{a}" for a in "xyz")])
        with self.assertRaisesRegex(KeyError, "not recorded"):
            run.columns["client.position.x"]
        with self.assertRaisesRegex(KeyError, "client.velocity.x"):
            run.columns["client.velocty.x"]

    def test_shown(self):
        run = ff.run(DEOS, set={"time.duration": 3})
        self.assertIn("srcdoc", run._repr_html_())
        contacts = run.contacts
        self.assertEqual(len(contacts), len(run.summary["satellites"]["client"]["contacts"]))
        self.assertIn("deos-client", repr(run))
        try:
            import matplotlib
        except ImportError:
            return
        matplotlib.use("Agg")
        self.assertEqual(len(run.plot()), 2)
        self.assertEqual(len(run.plot("client.velocity.z")), 1)


class Refusals(Case):
    def refused(self, kind, pattern, **options):
        scenario = options.pop("scenario", DEOS)
        with self.assertRaisesRegex(kind, pattern) as caught:
            ff.run(scenario, **options)
        return caught.exception

    def test_what_no_argument_is_called(self):
        for call, name in ((ff.run, "run"), (ff.Simulation, "Simulation")):
            with self.assertRaisesRegex(TypeError, name + r"\(\) got an unexpected keyword argument 'blah'"):
                call("scenarios/deos-client.yaml", blah=1)

    def test_each_kind(self):
        for options in ({"method": "nonsense"}, {"set": {"foo": 1}}, {"set": {"satellites.client.mass": -1}},
                        {"set": {"time.cycle": "hello"}}, {"method": "./none.so"}):
            with self.subTest(**options):
                arguments = [x for k, v in options.get("set", {}).items() for x in ("--set", f"{k}={v}")]
                if "method" in options:
                    arguments += ["--method", options["method"]]
                status, _, said = command("run", DEOS, *arguments, "--quiet", "--out", self.folder)
                error = self.refused(ff.MethodError if "method" in options else ff.ScenarioError, ".", **options)
                self.assertEqual((error.outcome, str(error)), (status, said.strip()))
        self.refused(ff.ArgumentError, "nope", record=["nope.*"])
        self.refused(ff.ArgumentError, "log format", log="xls", out=self.folder)
        self.refused(ff.ArgumentError, "set: .*not JSON", set={"satellites.client.mass": float("nan")})
        self.refused(ff.MethodError, "tdpa:", method="tdpa:reading")
        self.refused(ff.ArgumentError, "method is 3", method=3)
        self.refused(ff.ArgumentError, "standard input", scenario="-")
        self.refused(ff.MethodError, "impact", scenario=CAPTURE, method="impact", set={"time.duration": 0.1})

    def test_place(self):
        path = os.path.join(self.folder, "bad.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("name: x\ntime: {cycle: 0.004, duration: 1}\nsatellites:\n  c: {mass: -1, inertia: [1, 1, 1]}\n")
        error = self.refused(ff.ScenarioError, "mass is -1", scenario=path)
        self.assertEqual((error.file, error.line, error.column), (path, 4, 13))
        self.assertIsInstance(error, ValueError)
        self.assertIsNone(self.refused(ff.ScenarioError, "foo", set={"foo": 1}).line)

    def test_a_failed_run_keeps_what_it_has(self):
        error = self.refused(ff.RunError, "diverged",
                             method="direct", set={"time.duration": 1000, "satellites.client.robot.delay": 0.2})
        self.assertEqual(error.outcome, 1)
        rows = len(error.run.columns["t"])
        self.assertTrue(0 < rows < 250001)
        self.assertEqual(error.run.summary["verdict"], "fail")
        self.assertEqual(error.run.summary["cycles"] > 0, True)

    def test_another_abi(self):
        """A library of another version, of none, and one that is not there."""
        for source, pattern in (("int ffh_abi(void) { return 99; }", "ABI 99, this package needs 1"),
                                ("int other(void) { return 1; }", "not libfreefloat-host"), (None, "cannot be loaded")):
            path = os.path.join(self.folder, "other.so")
            if source:
                with open(os.path.join(self.folder, "a.c"), "w", encoding="utf-8") as file:
                    file.write(source)
                subprocess.run(["cc", "-shared", "-fPIC", "-o", path, os.path.join(self.folder, "a.c")], check=True)
            elif os.path.exists(path):
                os.remove(path)
            done = subprocess.run([sys.executable, "-c", "import freefloat"], capture_output=True, text=True, check=False,
                                  env={**os.environ, "FREEFLOAT_HOST_LIBRARY": path})
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"LibraryError: .*{pattern}")


class Stopping(Case):
    def setUp(self):
        """Who starts a program behind others may have it ignore the signal; a notebook does not."""
        super().setUp()
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

    def test_ctrl_c(self):
        """A signal while C runs is seen at the next report of progress, and is raised as everywhere."""
        seen = []

        def press(part):
            seen.append(part)
            if len(seen) == 200:
                signal.raise_signal(signal.SIGINT)
        with self.assertRaises(KeyboardInterrupt) as caught:
            ff.run(DEOS, progress=press)
        self.assertEqual(len(seen), 200)
        self.assertTrue(0 < len(caught.exception.run.columns["t"]) < 7501)  # nothing is lost
        with self.assertRaises(KeyboardInterrupt):
            ff.campaign({"name": "long", "base": DEOS, "methods": ["tdpa"], "samples": 100000, "seed": 1,
                         "vary": {"satellites.client.mass": {"uniform": [200, 300]}}, "metrics": {"e": "rebound_error"}},
                        threads=1, progress=lambda part: signal.raise_signal(signal.SIGINT))

    def test_a_process_that_is_interrupted(self):
        """At any moment: Python raises it wherever it runs next, which is the first line of a function that C calls."""
        calls = {"run": "ff.run(D, set=S, record=False, reference=False, progress=go)",
                 "a method": "ff.run(D, lambda c: go(), S, record=False, reference=False)",
                 "advance": "s = ff.Simulation(D, set=S, record=False, reference=False, progress=go); s.advance(10**9)",
                 "campaign": "ff.campaign({'name': 'long', 'base': D, 'methods': ['tdpa'], 'samples': 10**6, 'seed': 1, 'vary': "
                             "{'satellites.client.mass': {'uniform': [200, 300]}}, 'metrics': {'e': 'rebound_error'}}, progress=go)"}
        for name, call in calls.items():
            with self.subTest(name):
                self.interrupt(call)

    def interrupt(self, call):
        script = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  f"import freefloat as ff, sys\nD, S = {DEOS!r}, {{'time.duration': 400000}}\nwent = []\n"
                  "def go(part=0):\n    went or went.append(print('go', flush=True))\n"
                  f"try:\n    {call}\nexcept KeyboardInterrupt:\n    sys.exit(7)\n")
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "go\n")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        self.assertEqual((process.returncode, said), (7, ""), call)

    def test_progress_that_raises(self):
        def report(part):
            if part > 0.5:
                raise KeyError("x")
        with self.assertRaisesRegex(ff.CallbackError, "progress raised KeyError") as caught:
            ff.run(DEOS, progress=report)
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        self.assertTrue(0 < len(caught.exception.run.columns["t"]) < 7501)

    def test_progress_says_no(self):
        with self.assertRaisesRegex(ff.RunError, "stopped") as caught:
            ff.run(DEOS, progress=lambda part: part < 0.5)
        self.assertTrue(0 < len(caught.exception.run.columns["t"]) < 7501)

    def test_two_threads(self):
        alone = [ff.run(DEOS, m, {"time.duration": 5}) for m in ("tdpa", "fused")]
        made = {}

        def work(method):
            made[method] = [ff.run(DEOS, method, {"time.duration": 5}) for _ in range(3)]
        threads = [threading.Thread(target=work, args=(m,)) for m in ("tdpa", "fused")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for reference, method in zip(alone, ("tdpa", "fused")):
            for run in made[method]:
                self.same_columns(run.columns, reference.columns)



class Arguments(Case):
    """A value that is wrong is an ArgumentError that names it, whatever Python or numpy would have said."""

    def test_values(self):
        log = {"t": [0.0] * 9, "x": ["a"] * 9}
        endless = []
        endless.append(endless)
        body = ff.RigidBody(10, [1, 1, 1])
        tree = ff.Tree.from_urdf(os.path.join(SCENARIOS, "envisat-arm.urdf"))
        cases = [("seed", lambda: ff.run(DEOS, seed=1.5)), ("seed", lambda: ff.run(DEOS, seed="a")),
                 ("seed", lambda: ff.run(DEOS, seed=-1)), ("set", lambda: ff.run(DEOS, set=["a=1"])),
                 ("scenario", lambda: ff.run(None)), ("scenario", lambda: ff.run(DEOS + "\0.yaml")),
                 ("text", lambda: ff.run("x", text=3)), ("record", lambda: ff.run(DEOS, record=[3])),
                 ("record", lambda: ff.run(DEOS, record=3)), ("set", lambda: ff.run(DEOS, set={"satellites": endless})),
                 ("masked", lambda: body.energy(np.ma.array(body.state(), mask=[1] + [0] * 12))),
                 ("out", lambda: ff.run(DEOS, out=3)), ("progress", lambda: ff.run(DEOS, progress=3)),
                 ("contacts", lambda: ff.run(DEOS, contacts=[1])), ("methods", lambda: ff.compare(DEOS, None)),
                 ("threads", lambda: ff.campaign("delay-stiffness", threads=-1)),
                 ("campaign", lambda: ff.campaign({"name": "x", "samples": np.nan})),
                 ("mass", lambda: ff.RigidBody("a", [1, 1, 1])), ("com", lambda: ff.RigidBody(1, [1, 1, 1], [1, 2])),
                 ("com", lambda: ff.RigidBody(1, [1, 1, 1], [1, 2, np.nan])),
                 ("position", lambda: body.state([1, 2], [1, 0, 0, 0, 0])),
                 ("steps", lambda: body.advance(body.state(), 0.1, 1.5)), ("q", lambda: tree.mass_matrix([[1], [1, 2]])),
                 ("link", lambda: tree.pose(np.zeros(7), link=-2)), ("base", lambda: ff.Tree.from_urdf("x", base=3)),
                 ("force", lambda: ff.passivity([1j], [1], 1)), ("'x'", lambda: ff.identify(log, "delay")),
                 ("skew", lambda: ff.identify({"t": [0.0] * 9}, "contact", skew=-1))]
        for word, call in cases:
            with self.assertRaisesRegex(ff.ArgumentError, word):
                call()

    def test_columns_by_pattern(self):
        """A text is one pattern; t is beside whatever is kept; names with units are the same names."""
        run = ff.run(DEOS, set={"time.duration": 1}, record="client.velocity.*")
        self.assertEqual(list(run.columns), ["t", *(f"client.velocity.{a}" for a in "xyz")])
        self.assertIn("client.velocity.z [m/s]", run.columns)
        self.same(run.columns["client.velocity.z [m/s]"], run.columns["client.velocity.z"])
        with self.assertRaises(ValueError):
            run.columns["t"].setflags(write=True)
        with self.assertRaises(KeyError):
            run.columns[3]

    def test_a_comparison_keeps_every_run(self):
        with self.assertRaisesRegex(ff.ArgumentError, "twice"):
            ff.compare(DEOS, "tdpa,tdpa", set={"time.duration": 0.1})
        both = ff.compare(DEOS, [lambda c: None, lambda c: None], set={"time.duration": 0.1})
        self.assertEqual(list(both), ["lambda", "lambda-2"])

    def test_a_warning_is_the_callers(self):
        for call in (lambda: ff.run(DEOS, set={"time.duration": 0.1}), lambda: ff.compare(DEOS, "tdpa", set={"time.duration": 0.1}),
                     lambda: ff.Simulation(DEOS, set={"time.duration": 0.1}, reference=False)):
            with self.assertWarns(RuntimeWarning) as caught:
                call()
            self.assertEqual(caught.filename, __file__)

    def test_places(self):
        """A folder whose name is no UTF-8, and none for a moment."""
        out = os.path.join(os.fsencode(self.folder), b"caf\xe9")
        run = ff.run(DEOS, set={"time.duration": 0.1}, out=out)
        self.assertEqual(os.fsencode(run.folder), out)
        self.assertTrue(os.path.exists(os.path.join(run.folder, "log.csv")))
        before, tempfile.tempdir = tempfile.tempdir, os.path.join(self.folder, "none")
        try:
            with self.assertRaisesRegex(ff.FilesError, "TMPDIR"):
                run._repr_html_()
        finally:
            tempfile.tempdir = before

    def test_a_report_in_a_folder(self):
        run = ff.run(DEOS, set={"time.duration": 0.1})
        self.assertEqual(run.report(self.folder), os.path.join(self.folder, "report.html"))
        with self.assertRaises(ff.FilesError):
            run.report(os.path.join(self.folder, "none", "x.html"))


class Memory(Case):
    def test_a_run_goes_with_its_last_name(self):
        """Not when Python's collector finds it: a loop over runs needs the memory of one."""
        def method(cycle):
            pass
        gc.disable()
        try:
            for make in (lambda: ff.run(DEOS, set={"time.duration": 0.1}),
                         lambda: ff.run(DEOS, method, {"time.duration": 0.1}, progress=lambda part: None),
                         lambda: ff.run(DEOS, set={"time.duration": 0.1}, contacts={"front": lambda d, rate: 0.0},
                                        sensors={"client": lambda t, f: f}),
                         lambda: ff.Simulation(DEOS, set={"time.duration": 0.1}),
                         lambda: ff.run(CAPTURE, set={"time.duration": 0.1}, obsw=lambda board: None)):
                made = make()
                if isinstance(made, ff.Simulation):
                    made.advance(3)
                gone = weakref.ref(made._handle)
                column = made.columns["t"]
                del made
                self.assertIsNotNone(gone())  # an array keeps it
                del column
                self.assertIsNone(gone())
        finally:
            gc.enable()


class Tables(Case):
    def test_with_and_without_pandas(self):
        """A DataFrame where pandas is installed, else a list of dicts: the same values."""
        run, none = ff.run(DEOS, "tdpa"), ff.run(DEOS, "tdpa", {"time.duration": 0.1})
        both = ff.compare(DEOS, "ideal,tdpa", set={"time.duration": 3})
        plain = [{"satellite": "client", **c} for c in run.summary["satellites"]["client"]["contacts"]]
        sys.modules["pandas"] = None  # as if it were not there
        try:
            self.assertEqual(run.contacts, plain)
            self.assertEqual(none.contacts, [])
            self.assertEqual([r["method"] for r in both.table], ["ideal", "tdpa"])
        finally:
            del sys.modules["pandas"]
        self.assertGreater(len(plain), 3)
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not there (tools/setup.sh installs python3-pandas)")
        self.assertEqual(run.contacts["peak_force_N"].tolist(), [c["peak_force_N"] for c in plain])
        # without a contact it has the columns that every contact has
        self.assertEqual((len(none.contacts), set(none.contacts) - set(run.contacts)), (0, set()))
        self.assertTrue(np.isnan(none.contacts["peak_force_N"].max()))
        self.assertEqual(both.table["method"].tolist(), ["ideal", "tdpa"])
        frame = run.columns.frame()
        self.assertEqual(list(frame), list(run.columns))
        self.same(frame["client.velocity.z"].to_numpy(), run.columns["client.velocity.z"])
        self.assertEqual(ff.identify(frame, "delay"), ff.identify(run, "delay"))
        frame.iloc[0, 0] = 5.0  # a table of its own
        self.assertEqual(run.columns["t"][0], 0)
        out = os.path.join(self.folder, "r")
        ff.run(DEOS, "tdpa", out=out)
        read = pandas.read_csv(os.path.join(out, "log.csv"), float_precision="round_trip")
        self.assertEqual(ff.identify(read, "delay")["client"], ff.identify(run, "delay")["client"])


if __name__ == "__main__":
    os.chdir(SOURCE)
    unittest.main(verbosity=2)
