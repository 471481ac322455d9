"""What a caller meets at the edges: before the first step, words that are varied, answers that are not finite, a reader in
another thread."""
import threading
import unittest
import warnings

import freefloat as ff
import numpy as np

from support import DEOS, Case, command

SHORT = {"time.duration": 0.08}
warnings.simplefilter("ignore", RuntimeWarning)  # nothing touches in so short a time


class Gaps(Case):
    def test_before_the_first_step(self):
        sim = ff.Simulation(DEOS, method="tdpa", set=SHORT, reference=False, record=False)
        self.assertTrue(np.isnan(sim.row).all())
        self.assertEqual((sim.k, sim.t), (0, 0.0))
        with self.assertRaisesRegex(ff.ArgumentError, "before the first cycle"):
            sim["client.velocity.z"]
        begin = sim.save()
        sim.step()
        self.assertGreater(sim["client.attitude.w"], 0.0)
        self.assertEqual(sim.k, 1)
        sim.restore(begin)
        self.assertEqual(sim.k, 0)

    def campaign(self, **changes):
        return {"name": "words", "base": DEOS, "methods": ["direct"], "metrics": ["velocity_error"],
                "vary": {"integrator": {"list": ["lie-midpoint", "euler"]}, "time.duration": {"list": [0.02]}}, **changes}

    def test_words_and_lists_that_are_varied(self):
        c = ff.campaign(self.campaign(), threads=1)
        self.assertEqual(list(c["integrator"]), ["lie-midpoint", "euler"])
        self.assertEqual(list(c["time.duration"]), [0.02, 0.02])

    def test_a_mistake_in_a_dict_names_its_key(self):
        with self.assertRaisesRegex(ff.ScenarioError, "^campaign, vary.integrator") as caught:
            ff.campaign(self.campaign(vary={"integrator": {"lst": ["euler"]}}))
        self.assertNotIn("/campaign.yaml", str(caught.exception))
        self.assertIsNone(caught.exception.file)

    def test_progress_of_a_campaign(self):
        with self.assertRaises(ff.RunError) as caught:
            ff.campaign(self.campaign(), threads=1, progress=lambda part: False)
        self.assertNotIn("/", str(caught.exception))
        with self.assertRaises(ff.CallbackError) as caught:
            ff.campaign(self.campaign(), threads=1, progress=lambda part: 1 / 0)
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)

    def test_answers_that_are_not_finite(self):
        for act, words in ((lambda c: c.bodies[0].out_force.fill(np.nan), "its force on 'client'"),
                           (lambda c: c.bodies[0].out_torque.fill(np.inf), "its torque on 'client'"),
                           (lambda c: c.state.fill(np.nan), "its state"),
                           (lambda c: c.bodies[0].set_observer(np.nan), "set_observer"),
                           (lambda c: c.bodies[0].set_contact("no"), "set_contact")):
            with self.assertRaisesRegex(ff.CallbackError, words) as caught:
                ff.run(DEOS, method=lambda c, act=act: act(c), name="own", set=SHORT, reference=False)
            self.assertIsInstance(caught.exception.__cause__, ff.ArgumentError)

    def test_states(self):
        sim = ff.Simulation(DEOS, method="tdpa", set=SHORT, reference=False, record=False)
        state = sim.save()
        sim.restore(ff.State(state.data))
        for data in (state.data + b"0", state.data[:-1]):
            with self.assertRaises(ff.StateError):
                sim.restore(ff.State(data, 0, 0.0))
        with self.assertRaises(ff.StateError):
            ff.State("abc")
        failing = ff.Simulation(DEOS, method=lambda c: 1 / 0, name="own", set=SHORT, reference=False, record=False)
        with self.assertRaises(ff.CallbackError):
            failing.advance(20)
        with self.assertRaisesRegex(ff.StateError, "has failed"):
            failing.save()

    def test_a_reader_never_stops_who_advances(self):
        sim = ff.Simulation(DEOS, method="tdpa", reference=False, set={"time.duration": 2.0})
        sim.step()
        seen, wrong, over = [0], [], threading.Event()

        def read():
            while not over.is_set():
                try:
                    summary = sim.summary
                except ff.ArgumentError:
                    continue
                seen[0] += 1
                if "verdict" not in summary:
                    wrong.append(summary)
        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            while sim.step():  # ArgumentError if a reader is in the way
                pass
            self.assertFalse(wrong)
        finally:
            over.set()
            for reader in readers:
                reader.join()

    def test_a_shipped_arm_by_its_name(self):
        self.assertEqual(ff.Tree.from_urdf("envisat-arm.urdf").joints, ff.Tree.from_urdf("scenarios/envisat-arm.urdf").joints)

    def test_a_method_with_settings_on_the_command_line(self):
        for words in (("check", DEOS), ("run", DEOS, "--set", "time.duration=0.08", "--out", self.folder + "/out")):
            self.assertEqual(command(*words, "--method", "tdpa:reading=printed")[0] & 2, 0, words)
        code, _, said = command("check", DEOS, "--method", "tdpa:reading")
        self.assertEqual((code, "key=value" in said), (2, True))


if __name__ == "__main__":
    unittest.main()
