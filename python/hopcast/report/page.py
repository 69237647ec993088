"""The report: one self-contained page with tables and figures, drawn from the files of runs and studies in a folder.

The same folder gives the same bytes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hopcast import film, tables
from hopcast.errors import HopcastError
from hopcast.figures import pdf, picture, svg
from hopcast.lab.experiment import AMOUNTS, Amount, Cells, Experiment, Parameter, Table
from hopcast.lab.installed import experiments, papers, registers
from hopcast.lab.raised import listed, told
from hopcast.lab.rows import RANK, Row, experiment_verdict
from hopcast.lab.sensitivity import Sensitivity
from hopcast.lab.tally import Tally
from hopcast.output import prepared, write_bytes, write_text
from hopcast.report import conversations, html, network, register, sweeps
from hopcast.report.documents import (
    NoDocument,
    WrongDocument,
    load_conversation_series,
    load_film,
    load_run,
    load_series,
    load_study,
)
from hopcast.sweep.result import NAME as SWEEP
from hopcast.sweep.result import NoSweep, open_sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")

FORMS = {
    ("quick", True): "in the quick form: less data and fewer seeds than the papers had",
    ("full", True): "with the papers' amounts of data",
    ("quick", False): "in the quick form",
    ("full", False): "in the full form",
}
"""Titles of a study by its amount, and by whether hopcast's experiments are in it."""
AGREE, OPEN, DISAGREE = ("holds", "within"), ("inconclusive",), ("fails", "differs")


class NothingToReport(HopcastError):
    """A folder holds no results of a run or a study, or results that hopcast did not write."""


class Ahead:
    """Sections of experiments that are made while others still run: matplotlib takes a while to draw their figures."""

    def __init__(self, amount: Amount) -> None:
        self._amount = amount
        self._made: dict[str, tuple[list[Row], list[str]]] = {}

    def make(self, experiment: Experiment, rows: Sequence[Row]) -> None:
        """Make the section of an experiment. One that can't be made is left to `write_report`, which says why."""
        if not rows:
            return
        # A study's functions may also end the program.
        with suppress(Exception, SystemExit):
            lines = _experiment(experiment, rows, experiment_verdict(rows), self._amount)
            self._made[experiment.id] = list(rows), lines

    def section(self, experiment: Experiment, rows: Sequence[Row]) -> list[str] | None:
        """The section of an experiment with these rows, if it has been made."""
        of, lines = self._made.get(experiment.id, ([], []))
        return lines if lines and of == list(rows) else None


def write_report(folder: str | os.PathLike[str], own: Sequence[Experiment] = (), ahead: Ahead | None = None) -> str:
    """Write `report.html` for the results in the folder, and return its path. `own` are custom experiments. The page
    is the same with and without sections that were made `ahead`. Raises `NothingToReport`, and `OutputError` if the page
    can't be written there.
    """
    root = Path(folder)
    if not root.is_dir():
        raise NothingToReport(
            f"{root}: {'is a file; expected a folder' if root.exists() else 'there is no such folder'}"
        )
    known = experiments() | {experiment.id: experiment for experiment in own}
    path = root / "report.html"
    if (root / SWEEP).exists():
        try:
            drawn = sweeps.section(open_sweep(root))
        except NoSweep as error:
            raise NothingToReport(str(error)) from None
        with prepared(root, (path.name,)):
            write_text(path, html.page("hopcast report", drawn))
        return str(path)
    study, run = _load(load_study, root / "rows.json"), _load(load_run, root / "run.json")
    films: dict[str, dict[str, Any]] = {}
    if study is not None:
        loaded = {radio: _film(root / folder / "run.json", radio) for radio, folder in film.FOLDERS.items()}
        films = {radio: document for radio, document in loaded.items() if document is not None}
    try:
        layout = None if run is None else network.load(root)
    except WrongDocument as error:
        raise NothingToReport(str(error)) from None
    if study is None and run is None:
        raise NothingToReport(
            f"{root}: there is neither run.json nor rows.json nor sweep.json; `hopcast run --out`, "
            "`hopcast study --out` and `hopcast sweep --out` write them"
        )
    body: list[str] = []
    found = [] if study is None else _by_experiment(study, known)
    if study is not None:
        body += _study_head(study, found)
    else:
        body += [f"<h1>hopcast: {escape(network.name(layout))}</h1>"]
    if films:
        body += _films(root, films)
    if run is not None:
        body += _run(root, run)
        body += network.section(run, layout)
    if study is not None:
        unsaid = [Sensitivity(**fields) for fields in study.get("sensitivity", ())]
        body += _sensitivity(unsaid, {experiment.id for experiment, _ in found})
        body += _experiments(AMOUNTS[study["amount"]], study["verdicts"], found, ahead)
        body += register.section(registers(), {experiment.id: rows for experiment, rows in found})
    body += _provenance(study, [document for document in (*films.values(), run) if document is not None])
    with prepared(root, (path.name,)):
        write_text(path, html.page("hopcast report", body))
    return str(path)


def write_figures(folder: str | os.PathLike[str], own: Sequence[Experiment] = ()) -> str:
    """Write the figures of a study's experiments to the subfolder `figures`, each as SVG and as PDF, and return its
    path. Raises `NothingToReport`, and `OutputError` if that folder can't be made.
    """
    root = Path(folder)
    study = _load(load_study, root / "rows.json")
    if study is None:
        raise NothingToReport(f"{root}: there is no rows.json; `hopcast study --out` writes it")
    target = root / "figures"
    with prepared(target):
        for experiment, rows in _by_experiment(study, experiments() | {one.id: one for one in own}):
            for number, (document, drawn) in enumerate(_files(experiment, rows), start=1):
                write_text(target / f"{experiment.id}-{number}.svg", drawn)
                write_bytes(target / f"{experiment.id}-{number}.pdf", document)
    return str(target)


def _files(experiment: Experiment, rows: Sequence[Row]) -> list[tuple[bytes, str]]:
    """Each figure as a PDF document and an SVG file."""

    def files(made: Sequence[tuple[str, Figure]]) -> list[tuple[bytes, str]]:
        return [(pdf(figure, f"{experiment.id}: {title}"), picture(figure)) for title, figure in made]

    return _made(experiment, "figures", Table(rows), files)


def _film(path: Path, radio: str) -> dict[str, Any] | None:
    """The run of the demonstration; `None` if the folder has no run, or one of the user."""
    return _load(lambda file: load_film(file, film.scenario(radio).sha256), path)


def _is_hopcasts(study: dict[str, Any]) -> bool:
    """Whether experiments of hopcast were run."""
    installed = experiments()
    return any(of["experiment"] in installed for of in (*study["rows"], *study.get("sensitivity", ())))


def _load(load: Callable[[Path], T], path: Path) -> T | None:
    """Content of a file; `None` if there is none."""
    try:
        return load(path)
    except NoDocument:
        return None
    except WrongDocument as error:
        raise NothingToReport(str(error)) from None


# --- studies -------------------------------------------------------------------------------------------------------


Found = Sequence[tuple[Experiment, Sequence[Row]]]
"""Experiments with their rows."""


def _study_head(study: dict[str, Any], found: Found) -> list[str]:
    amount = study["amount"]
    lines = []
    for experiment, of_experiment in found:
        counts: Counter[str] = Counter(row.verdict for row in of_experiment)
        lines.append(
            [
                f'<a href="#{experiment.id}">{experiment.id}</a>',
                escape(experiment.title),
                html.verdict(study["verdicts"][experiment.id]),
                *(str(sum(counts[name] for name in names)) for names in (AGREE, OPEN, DISAGREE)),
                str(counts["measured"]),
            ]
        )
    head = ["", "experiment", "verdict", "agree", "open", "disagree", "only measured"]
    return [
        f"<h1>hopcast: {'results compared with the papers' if _is_hopcasts(study) else 'a study'}</h1>",
        f'<p class="lead">Every number below was simulated for this page, {FORMS[amount, _is_hopcasts(study)]}.</p>',
        *([] if all(row.verdict == "measured" for _, rows in found for row in rows) else _verdicts()),
        *_papers(found),
        *(tables.table(head, lines, numbers=(3, 4, 5, 6)) for _ in lines[:1]),
        *(
            f"<p>{escape(sentence)}</p>"
            for sentence in Tally.of(rows for _, rows in found).sentences()
            if len(found) > 1
        ),
        *(f"<p>{escape(name)} was skipped: {escape(reason)}.</p>" for name, reason in study.get("skipped", {}).items()),
    ]


def _papers(found: Found) -> list[str]:
    """The papers whose experiments were run, in full."""
    installed = experiments()
    letters = {experiment.id[0] for experiment, _ in found if experiment.id in installed}
    lines = [
        [letter, escape(paper), escape(tested)] for letter, (paper, tested) in papers().items() if letter in letters
    ]
    return [tables.table(["", "paper", "its experiment"], lines)] if lines else []


def _verdicts() -> list[str]:
    """What the verdicts mean: a study that only measures has none."""
    return [
        "<p>A measured value agrees with the paper's <em>value</em> (<em>within</em>) within a factor of 1.5. A "
        "percentage agrees within 5 points if the paper's is 10 % or more, otherwise within a factor of 1.5 or one point. A <em>claim</em> is a sentence of the paper that the experiment tests; it <em>holds</em> if its "
        "inequality does. A cell is <em>inconclusive</em> if the 95 % confidence interval crosses the threshold. An experiment's "
        "verdict is that of its median cell.</p>"
    ]


ANSWERS = {"depends": "fails", "does not": "holds", "open": "inconclusive"}
"""Text for findings under another value, and the verdict that determines its colour."""


def _sensitivity(found: Sequence[Sensitivity], known: Container[str]) -> list[str]:
    if not found:
        return []
    lines = [
        [
            f'<a href="#{one.experiment}">{one.experiment}</a>' if one.experiment in known else one.experiment,
            escape(one.parameter),
            html.prose(one.chosen),
            f'{html.prose(one.alternative)} <span class="note">{html.prose(one.why)}</span>',
            f"{one.agree_chosen} → {one.agree} of {one.rows}",
            html.verdict(ANSWERS[one.answer], one.answer),
            f'<span class="note">{"<br>".join(map(escape, one.turned))}</span>',
        ]
        for one in found
    ]
    counts = Counter(one.answer for one in found)
    return [
        '<section id="sensitivity">',
        "<h2>Parameters that the papers do not state</h2>",
        "<p>Where a paper does not state a parameter, an experiment runs with one value, named in its parameters. This section tries other "
        "plausible values, one at a time. A finding <em>depends</em> on the value if it holds (or its values are within) under one of "
        "the two, and fails (or they differ) under the other. Claims that test one sentence have one vote, and so have all values. A "
        "finding is <em>open</em> if an interval crosses the threshold under one of the two.</p>",
        f"<p>Of {len(found)} trials {counts['depends']} change a finding, {counts['does not']} change none, and "
        f"{counts['open']} are undecided.</p>",
        tables.table(
            [
                "",
                "parameter",
                "chosen value",
                "tried value, and why",
                "rows that agree",
                "findings",
                "findings that change",
            ],
            lines,
            kind="rows",
        ),
        "</section>",
    ]


def _experiments(amount: Amount, verdicts: Mapping[str, str], found: Found, ahead: Ahead | None) -> list[str]:
    body = []
    for experiment, rows in found:
        made = None if ahead is None else ahead.section(experiment, rows)
        body += _experiment(experiment, rows, verdicts[experiment.id], amount) if made is None else made
    return body


def _experiment(experiment: Experiment, rows: Sequence[Row], verdict: str, amount: Amount) -> list[str]:
    def figures(made: Sequence[tuple[str, Figure]]) -> list[str]:
        return [
            html.figure(title, svg(figure, f"{experiment.id}-{index}-")) for index, (title, figure) in enumerate(made)
        ]

    table = Table(rows)
    parameters = _made(experiment, "setup", amount, _parameters, Parameter)
    drawn = _made(experiment, "figures", table, figures)
    notes = _made(experiment, "notes", table, lambda made: [f"<li>{html.prose(note)}</li>" for note in made], str)
    cells = _made(experiment, "tables", table, lambda made: [line for each in made for line in _cells(each)], Cells)
    return [
        f'<section id="{experiment.id}">',
        f"<h2>{experiment.id} · {escape(experiment.title)} {html.verdict(verdict)}</h2>",
        f"<p>{html.prose(experiment.paper)}</p>",
        *_grid(drawn),
        *(["<ul>", *notes, "</ul>"] if notes else []),
        *cells,
        *(_compared(rows) if any(map(_said, rows)) else _measured_table(rows)),
        "<details><summary>Parameters and their sources</summary>",
        tables.table(["parameter", "value", "source"], parameters),
        "</details>",
        "</section>",
    ]


def _made(
    experiment: Experiment,
    part: Literal["setup", "figures", "notes", "tables"],
    given: Amount | Table,
    shown: Callable[[list[Any]], T],
    kind: type = object,
) -> T:
    """Return what an experiment makes for the report, in the form in which the report shows it. Fails if rows that
    the experiment needs are missing, or if the result is not a list of the right kind, or can't be shown.
    """
    function = getattr(experiment, part)
    hint = "; all rows of the experiment are expected" if isinstance(given, Table) else ""
    try:
        made = function(given)
        hint = ""
        return shown(listed(made, kind))
    except Exception as error:
        raise NothingToReport(
            f"{experiment.id}: can't be reported: its {part}: {told(error, function)}{hint}"
        ) from error


def _parameters(made: Sequence[Parameter]) -> list[list[str]]:
    return [[escape(one.name), html.prose(one.value), html.prose(one.source)] for one in made]


def _cells(cells: Cells) -> list[str]:
    lines = [[escape(text) for text in line] for line in cells.lines]
    head = [escape(text) for text in cells.head]
    return [f"<p>{escape(cells.title)}</p>", tables.table(head, lines, numbers=range(1, len(head)), kind="cells")]


def _said(row: Row) -> bool:
    """Whether the paper says something about it."""
    return row.verdict in RANK


def _row_table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    lines = [
        [
            escape(row.case),
            escape(row.metric),
            escape(row.paper_text()),
            escape(row.measured_text()),
            escape(row.compared_text()),
            html.verdict(row.verdict),
            f'<span class="note">{html.prose(row.note)}</span>',
        ]
        for row in rows
    ]
    head = ["case", "metric", "paper", "measured", "compared with the paper", "verdict", "note"]
    return [tables.table(head, lines, numbers=(2, 3, 4), kind="rows")]


def _compared(rows: Sequence[Row]) -> list[str]:
    measured = [row for row in rows if not _said(row)]
    return [
        *_row_table([row for row in rows if _said(row)]),
        *_folded("Measured, without a number in the paper", measured),
    ]


def _measured_table(rows: Sequence[Row]) -> list[str]:
    """Rows of an experiment that compares nothing."""
    lines = [
        [
            escape(row.case),
            escape(row.metric),
            escape(row.measured_text()),
            f'<span class="note">{html.prose(row.note)}</span>',
        ]
        for row in rows
    ]
    return [tables.table(["case", "metric", "measured", "note"], lines, numbers=(2,), kind="rows")] if lines else []


def _folded(summary: str, rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    return [f"<details><summary>{summary} ({len(rows)})</summary>", *_row_table(rows), "</details>"]


def _by_experiment(study: dict[str, Any], known: Mapping[str, Experiment]) -> Found:
    rows: dict[str, list[Row]] = {}
    for fields in study["rows"]:
        row = Row(**fields)
        rows.setdefault(row.experiment, []).append(row)
    unknown = [name for name in rows if name not in known]
    if unknown:
        raise NothingToReport(
            f"{', '.join(unknown)}: not an experiment of hopcast; `hopcast report DIR --study FILE.py` takes it from its file"
        )
    return [(experiment, rows[name]) for name, experiment in known.items() if name in rows]


# --- runs ----------------------------------------------------------------------------------------------------------


def _films(root: Path, documents: Mapping[str, dict[str, Any]]) -> list[str]:
    """The demonstration, radio by radio."""
    body = [
        '<section id="film">',
        f"<h2>A film and a download over {' and over '.join(documents)}</h2>",
        "<p>A box streams the MPEG-4 frames of <em>Big Buck Bunny</em> (© Blender Foundation, CC BY 3.0) to a screen 8 m away, "
        "over UDP. From 20 to 40 s it also sends as much as TCP can to a laptop 6 m away, over the same card.</p>",
    ]
    for radio, document in documents.items():
        flows = {flow["name"]: flow for flow in document["flows"]}
        played, download = flows["film"], flows["download"]
        folder = film.FOLDERS[radio]
        body += [
            f"<h3>{radio}</h3>",
            f"<p>{film.TOLD[radio]} The download carries {download['goodput_bps'] / 1e6:.1f} Mb/s. The film loses "
            f"{100 * played['loss_ratio']:.2f} % of its packets, and a packet takes {1e3 * played['delay_mean_s']:.2f} ms on "
            f"average, {1e3 * played['delay_p99_s']:.2f} ms at the 99th percentile.</p>",
            tables.flow_table(document),
            *_grid(_series_figures(root / folder, f"{folder.replace('.', '-')}-")),
        ]
    return [*body, "</section>"]


def _run(folder: Path, document: dict[str, Any]) -> list[str]:
    from hopcast import plots

    talk: list[str] = []
    if "conversations" in document:
        talk = conversations.section(document, _load(load_conversation_series, folder / "conversation_series.parquet"))
    replications = len(document["provenance"].get("seeds", [None]))
    flows = (
        f"<p>Means of {replications} replications, each ± half of its 95 % confidence interval. Curves over time are of the first.</p>"
        if replications > 1
        else "<p>One replication: no confidence intervals.</p>",
        tables.flow_table(document),
    )
    # An emulation may have conversations only.
    drawn = (
        [html.figure("Goodput of each flow", svg(plots.goodput(document), "run-goodput-"))] if document["flows"] else []
    )
    return [
        '<section id="run">',
        "<h2>Flows</h2>",
        *(flows if document["flows"] else ("<p>The scenario has no flows, or real nodes' programs carry them.</p>",)),
        *_grid([*drawn, *_series_figures(folder, "run-")]),
        "</section>",
        *talk,
    ]


def _series_figures(folder: Path, prefix: str) -> list[str]:
    """A figure for each quantity recorded over time."""
    from hopcast import plots

    table = _load(load_series, folder / "series.parquet")
    if table is None:
        return []
    titles = {
        "rate": "Goodput over time",
        "delay": "Mean delay, ten times a second at most",
        "jitter": "Largest jitter, ten times a second at most",
        "cwnd": "Congestion window over time",
        "srtt": "Smoothed round-trip time over time",
        "queue": "Interface queues over time",
    }
    known = tables.series_columns(table)
    drawn = [(title, what, plots.series(table, what)) for what, title in titles.items() if what in known]
    return [
        html.figure(title, svg(figure, f"{prefix}{what}-"))
        for title, what, figure in drawn
        if figure.axes[0].has_data()
    ]


# --- provenance ----------------------------------------------------------------------------------------------------


def _provenance(study: dict[str, Any] | None, runs: Sequence[dict[str, Any]]) -> list[str]:
    body = ['<section id="provenance">', "<h2>Provenance</h2>"]
    lines = []
    for document in runs:
        origin = document["provenance"]
        seeds = origin.get("seeds", [origin["seed"]])
        lines.append(
            ["run", escape(origin["version"]), f"<code>{escape(origin['scenario_sha256'])}</code>", _seeds(seeds)]
        )
    if study is not None:
        version = escape(study["provenance"]["version"])
        body.append(f"<p>Studies in their {escape(study['amount'])} form, by hopcast {version}.</p>")
        for name, cases in study["provenance"]["experiments"].items():
            for case, origin in cases.items():
                digest = f"<code>{escape(origin['scenario_sha256'])}</code>"
                lines.append([f"{escape(name)}: {escape(case)}", version, digest, _seeds(origin["seeds"])])
    table = tables.table(["what", "version", "SHA-256 of the scenario", "seeds"], lines)
    return [*body, f"<details><summary>Scenarios and seeds ({len(lines)})</summary>", table, "</details>", "</section>"]


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} … {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _grid(drawn: Sequence[str]) -> list[str]:
    return ['<div class="figures">', *drawn, "</div>"] if drawn else []
