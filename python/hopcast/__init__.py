"""hopcast: media streaming over wireless ad hoc networks.

Define a simulation with `Scenario`, simulate it with `run`, and get tables and figures from the `Result`.
`hopcast.stream` carries media between real hosts::

    import hopcast

    scenario = hopcast.Scenario.from_toml("examples/film.toml")
    result = hopcast.run(scenario, replications=5)
    print(result.flows)
    result.plot("goodput").savefig("goodput.svg")
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hopcast import lab
    from hopcast._core import __version__
    from hopcast.captures import Captures
    from hopcast.errors import HopcastError, Interrupted, OutputError, RunError, ScenarioError
    from hopcast.extensions import Extensions
    from hopcast.recording import Recording, open_recording
    from hopcast.results import Result, run
    from hopcast.scenario import Scenario
    from hopcast.stored import open_run
    from hopcast.sweep import Sweep, open_sweep

__all__ = [
    "Captures",
    "Extensions",
    "HopcastError",
    "Interrupted",
    "OutputError",
    "Recording",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "__version__",
    "lab",
    "open_recording",
    "open_run",
    "open_sweep",
    "run",
]

_HOMES = {
    "__version__": "hopcast._core",
    "Captures": "hopcast.captures",
    "Extensions": "hopcast.extensions",
    "Recording": "hopcast.recording",
    "Result": "hopcast.results",
    "open_recording": "hopcast.recording",
    "open_run": "hopcast.stored",
    "run": "hopcast.results",
    "Scenario": "hopcast.scenario",
    "Sweep": "hopcast.sweep",
    "open_sweep": "hopcast.sweep",
}
"""The module of each public name; the other names are in `hopcast.errors`."""


def __getattr__(name: str) -> object:
    # Imported when first asked for: the command line listens for Ctrl-C before it imports anything that takes long.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "lab":
        return import_module("hopcast.lab")
    value = globals()[name] = getattr(import_module(_HOMES.get(name, "hopcast.errors")), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
