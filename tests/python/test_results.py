"""Runs from Python, their tables and figures."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars
import pytest

import hopcast
from hopcast import HopcastError, OutputError, Scenario


def test_tables_have_a_row_for_each_flow_and_node(scenario: Scenario) -> None:
    result = hopcast.run(scenario, replications=2)
    assert result.flows["name"].to_list() == ["units", "bulk"] * 2
    assert result.flows["seed"].to_list() == [7, 7, 8, 8]
    assert result.nodes["name"].to_list() == ["n0", "n1", "n2"] * 2
    assert set(result.series["flow"].drop_nulls()) == {"units", "bulk"}
    assert result.series["time_s"].max() <= 0.3 + 1e-9  # type: ignore[operator]


def test_tables_and_object_agree(scenario: Scenario) -> None:
    result = hopcast.run(scenario)
    flows = result.json()["flows"]
    for field in ("sent_packets", "received_packets", "goodput_bps", "delay_mean_s"):
        assert result.flows[field].to_list() == [flow[field] for flow in flows]


def test_packets_are_conserved(scenario: Scenario) -> None:
    for flow in hopcast.run(scenario).json()["flows"]:
        assert flow["sent_packets"] == flow["received_packets"] + flow["lost_packets"] + flow["in_flight_packets"]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(scenario: Scenario, threads: int) -> None:
    alone = [hopcast.run(scenario, seed=seed).json()["flows"] for seed in (3, 4, 5)]
    together = hopcast.run(scenario, seed=3, replications=3, threads=threads)
    names = list(alone[0][0])
    rows = together.flows.select(name for name in together.flows.columns if name in names)
    assert rows.rows(named=True) == [{name: flow[name] for name in rows.columns} for flows in alone for flow in flows]


def test_replications_are_means(scenario: Scenario) -> None:
    result = hopcast.run(scenario, replications=3)
    goodput = result.flows.filter(polars.col("name") == "bulk")["goodput_bps"]
    flow = next(flow for flow in result.json()["flows"] if flow["name"] == "bulk")
    assert flow["goodput_bps"] == pytest.approx(goodput.mean())
    assert flow["goodput_bps_ci95"] >= 0
    assert len(result) == 3


def test_everything_is_written_whole(scenario: Scenario, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    result = hopcast.run(scenario, replications=2, out=out, pcap=True)
    names = {path.name for path in out.iterdir()}
    assert {"run.json", "flows.parquet", "nodes.parquet", "series.parquet"} <= names
    assert sum(name.endswith(".pcapng") for name in names) >= 3
    assert not any(name.startswith(".") or name.endswith(".part") for name in names)
    assert json.loads((out / "run.json").read_text()) == result.json()
    assert polars.read_parquet(out / "flows.parquet").equals(result.flows)


def test_out_does_not_change_the_result(scenario: Scenario, tmp_path: Path) -> None:
    plain, written = hopcast.run(scenario), hopcast.run(scenario, out=tmp_path / "out", pcap=True)
    assert plain.flows.equals(written.flows)
    assert plain.series.equals(written.series)


def test_an_output_that_is_a_file_stops_before_the_run(scenario: Scenario, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(OutputError) as caught:
        hopcast.run(scenario, out=path)
    assert isinstance(caught.value, HopcastError)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("wrong", [{"replications": 0}, {"pcap": True}])
def test_wrong_arguments_are_refused(scenario: Scenario, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"replications|pcap"):
        hopcast.run(scenario, **wrong)


def test_progress_reaches_the_end(scenario: Scenario) -> None:
    told: list[tuple[float, float]] = []
    hopcast.run(scenario, replications=2, progress=lambda done, total: told.append((done, total)))
    assert told
    assert all(total == pytest.approx(0.6) for _, total in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_progress_is_told_how_far_the_preparation_is() -> None:
    class Told:
        def __init__(self) -> None:
            self.steps: list[tuple[int, int]] = []

        def __call__(self, _done: float, _total: float) -> None: ...

        def preparation(self, done: int, total: int) -> None:
            self.steps.append((done, total))

    told = Told()
    crowd = hopcast.Scenario.from_toml("""
        duration = "1 ms"
        [radio.propagation]
        model = "log-distance"
        exponent = 2.5
        shadowing = "4 dB"
        [[nodes]]
        name = "n"
        count = 1500
        routing = { protocol = "aodv" }
        placement = { shape = "uniform", width = "500 m", height = "500 m" }
    """)
    hopcast.run(crowd, progress=told)
    assert told.steps
    assert {total for _, total in told.steps} == {1500}
    assert [done for done, _ in told.steps] == sorted(done for done, _ in told.steps)


def test_an_error_in_the_progress_function_stops_the_run(scenario: Scenario) -> None:
    class OurError(Exception):
        pass

    def progress(_done: float, _total: float) -> None:
        raise OurError

    with pytest.raises(OurError):
        hopcast.run(scenario, replications=3, progress=progress)


@pytest.mark.parametrize("what", ["goodput", "delays", "cwnd", "rate", "delay", "jitter", "queue"])
def test_figures(scenario: Scenario, what: str) -> None:
    figure = hopcast.run(scenario, replications=2).plot(what)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")
    assert figure.axes[0].get_ylabel()


def test_a_figure_that_does_not_exist_names_those_that_do(scenario: Scenario) -> None:
    with pytest.raises(ValueError, match="goodput, "):
        hopcast.run(scenario).plot("colour")


def test_a_result_shows_itself(scenario: Scenario) -> None:
    result = hopcast.run(scenario)
    assert "units" in repr(result)
    assert "<table" in result._repr_html_()


def test_written_results_are_read_as_they_were(scenario: Scenario, tmp_path: Path) -> None:
    made = hopcast.run(scenario, replications=2, out=tmp_path)
    read = hopcast.open_run(tmp_path)
    for name in ("flows", "nodes", "series"):
        assert getattr(read, name).equals(getattr(made, name)), name
    assert read.json() == made.json()
    assert (len(read), repr(read).startswith(f"Result('{tmp_path}', 2 replications: ")) == (2, True)
    assert made.conversations.is_empty()
    assert {"drop_queue_full", "delay_mean_s", "held_packets"} <= set(made.conversations.columns)
    with pytest.raises(HopcastError, match="only emulations have conversations"):
        read.rtp.is_empty()
    with pytest.raises(ValueError, match="costs of 2 replications"):
        read.costs()
    with pytest.raises(HopcastError, match=r"run\.json"):
        hopcast.open_run(tmp_path / "nothing")
