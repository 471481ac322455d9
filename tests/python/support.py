"""What the cases share: where things are, the command, a seed that is printed and can be repeated (FF_SEED)."""
import csv
import json
import os
import random
import subprocess
import tempfile
import unittest

import numpy as np

SOURCE = os.environ["FF_SOURCE_DIR"]
COMMAND = os.environ["FREEFLOAT"]
SCENARIOS = os.path.join(SOURCE, "scenarios")
DEOS = os.path.join(SCENARIOS, "deos-client.yaml")
CAPTURE = os.path.join(SCENARIOS, "envisat-capture.yaml")
SEED = int(os.environ.get("FF_SEED") or int.from_bytes(os.urandom(4), "little"))
print(f"seed {SEED} (FF_SEED repeats it)")


class Case(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(f"{SEED} {self.id()}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def same(self, a, b, what=""):
        """To the bit, except that what is not a number has many forms."""
        a, b = np.asarray(a), np.asarray(b)
        self.assertEqual(a.shape, b.shape, what)
        self.assertTrue(((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all(), what)

    def same_columns(self, a, b):
        """Two runs to the bit, but for the wall clock."""
        self.assertEqual(list(a), list(b))
        for name in a:
            if not name.startswith("timing."):
                self.same(a[name], b[name], name)

    def same_summary(self, a, b):
        a, b = dict(a), dict(b)
        for s in (a, b):
            s.pop("timing", None)
        self.assertEqual(a, b)


def command(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def read_csv(path):
    """log.csv or results.csv: names without units, one array each; an empty field is not a number."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = [n.split(" [")[0] for n in next(rows)]
        table = [[float(x) if x else np.nan for x in row] for row in rows]
    return dict(zip(names, np.array(table).T.copy()))


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)
