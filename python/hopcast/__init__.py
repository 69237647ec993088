"""hopcast: media streaming over wireless ad hoc networks, simulated.

`Scenario` says what to simulate, `run` simulates it, and its `Result` holds tables and draws figures::

    import hopcast

    scenario = hopcast.Scenario.from_toml("examples/string.toml")
    result = hopcast.run(scenario, replications=5)
    print(result.flows)
    result.plot("goodput").savefig("goodput.svg")
"""

from hopcast._core import __version__
from hopcast.errors import HopcastError, Interrupted, OutputError, RunError, ScenarioError
from hopcast.results import Result, run
from hopcast.scenario import Scenario

__all__ = [
    "HopcastError",
    "Interrupted",
    "OutputError",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "__version__",
    "run",
]
