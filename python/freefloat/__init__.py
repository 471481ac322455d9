"""freefloat from Python: runs, simulations, campaigns and the numerics behind them.

    import freefloat as ff
    r = ff.run("scenarios/deos-client.yaml", method="fused", set={"satellites.client.mass": 300})
    r.columns["client.velocity.z"], r.summary["verdict"], r.contacts

SI units, quaternions scalar first, linear velocities inertial, angular ones in body axes. docs/python.md walks through it.
"""
from ._library import version as __version__
from .campaigns import Campaign, campaign
from .errors import (ArgumentError, CallbackError, FilesError, FreefloatError, LibraryError, MethodError, RunError,
                     ScenarioError, StateError)
from .numerics import RigidBody, Tree, identify, passivity
from .parts import MethodBody, MethodCycle, OnBoard
from .run import Columns, Comparison, Run, compare, run
from .simulation import Simulation, State

__all__ = ["ArgumentError", "CallbackError", "Campaign", "Columns", "Comparison", "FilesError", "FreefloatError",
           "LibraryError", "MethodBody", "MethodCycle", "MethodError", "OnBoard", "RigidBody", "Run", "RunError",
           "ScenarioError", "Simulation", "State", "StateError", "Tree", "__version__", "campaign", "compare", "identify",
           "passivity", "run"]
