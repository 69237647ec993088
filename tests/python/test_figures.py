"""What figures must not do: overlap, leave the page, or hide what the paper says."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hopcast.figures import PAPER, PAPER_RANGE, Curve, Group, Line, bars, curves, lines, panels, pdf, svg
from hopcast.lab.rows import Row, Sample, claim, value


def rows(*numbers: float, **paper: Any) -> list[Row]:
    return [value("X", str(at), "m", "kb/s", Sample((n - 5.0, n + 5.0)), **paper) for at, n in enumerate(numbers)]


def drawn(figure: Figure) -> Any:
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    return figure.axes[0]


def legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_long_legend_stays_within_the_figure() -> None:
    names = [f"a label of many words, number {index}" for index in range(8)]
    axes = drawn(lines([Line(name, list(enumerate(rows(1.0, 2.0)))) for name in names], x="x", y="y"))
    box = axes.get_legend().get_window_extent()
    assert 0.0 <= box.x0 < box.x1 <= axes.figure.bbox.x1
    # The axes keep their room.
    assert axes.get_window_extent().width > 0.75 * axes.figure.bbox.width
    looks = {(line.get_color(), line.get_linestyle()) for line in axes.get_lines() if len(line.get_xdata()) == 2}
    assert len({look for look in looks if look[1] in ("-", "--")}) >= 8, "eight lines, eight looks"


def test_a_legend_with_columns_of_unequal_length_stays_within_the_axes() -> None:
    names = ["40 mW", "as rated", "as rated, ground that scatters", "as rated, fading", "the last of five"]
    axes = drawn(lines([Line(name, list(enumerate(rows(1.0, 2.0)))) for name in names], x="x", y="y"))
    assert axes.get_legend().get_window_extent().x1 <= axes.figure.bbox.x1


@pytest.mark.parametrize("places", [(5, 25, 45, 50, 55, 60, 80, 100), (1, 2, 4, 8), tuple(range(0, 100, 3))])
def test_numbers_on_the_axis_do_not_touch(places: tuple[int, ...]) -> None:
    found = rows(*map(float, places))
    axes = drawn(lines([Line("one", list(zip(map(float, places), found, strict=True)))], x="x", y="y"))
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert axes.get_xticklabels()[-1].get_text() == str(places[-1])


@pytest.mark.parametrize("names", [("ideal", "errors"), ("4 attempts, 50 packets", "3 attempts, 100 packets")])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_labels_of_bars_do_not_touch(names: tuple[str, ...], count: int) -> None:
    labels = [f"{name} {index}" for index in range(count) for name in names]
    axes = drawn(bars(labels, [Group.of("UDP", rows(*range(1, len(labels) + 1)))], y="y"))
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    if axes.get_xticklabels()[0].get_rotation() == 0:
        assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))
    assert min(box.y0 for box in boxes) >= 0.0


def test_an_axis_begins_at_zero_however_long_error_bars_are() -> None:
    assert drawn(lines([Line("one", list(enumerate(rows(1.0, 2.0))))], x="x", y="y")).get_ylim()[0] == 0.0
    assert drawn(bars(["a", "b"], [Group.of("one", rows(1.0, 2.0))], y="y")).get_ylim()[0] == 0.0
    assert drawn(lines([Line("one", list(enumerate(rows(-1.0, 2.0))))], x="x", y="y")).get_ylim()[0] < -1.0
    assert drawn(curves([Curve("one", [1.0, 2.0], [1.0, None], 0, [3.0, None])], y="y")).get_ylim()[0] == 0.0


def test_what_the_paper_says_is_marked() -> None:
    for paper, name, ends in (
        ({"paper": 7.0}, PAPER, [7.0, 7.0]),
        ({"low": 6.0, "high": 8.0}, PAPER_RANGE, [6.0, 8.0]),
    ):
        axes = drawn(lines([Line("one", list(enumerate(rows(1.0, 2.0, **paper))))], x="x", y="y"))
        assert legend(axes) == ["one", name]
        assert any(list(line.get_ydata()) == ends for line in axes.get_lines())
        assert legend(drawn(bars(["a", "b"], [Group.of("one", rows(1.0, 2.0, **paper))], y="y")))[-1] == name
    single = [rows(1.0, paper=7.0)[0], *rows(2.0)]
    axes = drawn(lines([Line("one", list(enumerate(single)))], x="x", y="y"))
    assert legend(axes) == ["one", "paper: one number"]
    found = [claim("X", "case", "m", "", Sample((1.0, 1.0)), low=7.0)]
    assert drawn(lines([Line("one", list(enumerate(found)))], x="x", y="y")).get_legend() is None


ODD = ["$^$", "_x", r"\$y\$", "a $b$ _c_"]
"""Names, none of them a formula or hidden."""


def test_names_are_drawn_as_they_are() -> None:
    found = rows(1.0, 2.0, 3.0, 4.0, paper=2.0)
    figures = {
        "lines": lines([Line(name, list(enumerate(found))) for name in ODD], x="x", y="$y_1$"),
        "bars": bars(ODD, [Group.of(name, found) for name in ODD], y="y"),
        "panels": panels(ODD, [(quantity, [Group.of(name, found) for name in ODD]) for quantity in ("a", "b")]),
        "curves": curves([Curve(name, [1.0, 2.0], [1.0, 2.0], at) for at, name in enumerate(ODD)], y="y"),
    }
    for kind, figure in figures.items():
        assert "svg" in svg(figure)
        axes = drawn(figure)
        assert legend(axes) == ([*ODD] if kind == "curves" else [*ODD, PAPER])
        texts = axes.get_legend().get_texts()
        if kind in ("bars", "panels"):
            assert [text.get_text().replace("\n", " ") for text in axes.get_xticklabels()] == ODD
            texts += axes.get_xticklabels()
        assert not any(text.get_parse_math() for text in texts)
    axes = figures["lines"].axes[0]
    axes.set_yscale("log")
    numbers = drawn(figures["lines"]).get_yticklabels()
    assert all(text.get_parse_math() for text in [axes.yaxis.label, *numbers]), "powers of ten are formulas"


def test_intervals_are_drawn() -> None:
    axes = drawn(curves([Curve("one", [1.0, 2.0], [1.0, 2.0], 0, [0.5, 0.5])], y="y"))
    assert len(axes.collections) == 1
    assert "svg" in svg(axes.figure)


def test_intervals_end_where_values_can_not_be() -> None:
    def ends(values: list[tuple[float, float]], y: str) -> list[list[float]]:
        """Of the bars of errors in both kinds of figures."""
        found = [value("X", "a", "m", "%", Sample(of)) for of in values]
        figures = (
            lines([Line("one", list(enumerate(found)))], x="x", y=y),
            bars(["a", "b"], [Group.of("one", found)], y=y),
        )
        of_each = [drawn(figure).collections[0].get_segments() for figure in figures]
        assert [[float(y) for _, y in segment] for segment in of_each[0]] == [
            [float(y) for _, y in segment] for segment in of_each[1]
        ]
        return [[float(y) for _, y in segment] for segment in of_each[0]]

    wide = [(1.0, 3.0), (97.0, 99.0)]
    assert ends(wide, "lost, %") == [[0.0, pytest.approx(14.706, abs=1e-3)], [pytest.approx(85.294, abs=1e-3), 100.0]]
    assert ends(wide, "rate, kb/s")[1][1] == pytest.approx(110.706, abs=1e-3)
    assert ends([(-1.0, -3.0), (97.0, 99.0)], "rate, kb/s")[0][0] == pytest.approx(-14.706, abs=1e-3)
    assert ends([(1.0, 3.0), (107.0, 109.0)], "of the first, %")[1][1] == pytest.approx(120.706, abs=1e-3)


def test_one_value_of_a_parameter_makes_bars() -> None:
    axes = drawn(lines([Line(name, [(10.0, rows(5.0)[0])]) for name in ("one", "two")], x="speed, m/s", y="rate"))
    assert [patch.get_height() for patch in axes.patches] == [5.0, 5.0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10"]
    assert axes.get_xlabel() == "speed, m/s"
    assert legend(axes) == ["one", "two"]


def test_a_range_of_a_paper_has_both_ends() -> None:
    axes = drawn(lines([Line("one", list(enumerate(rows(1.0, 2.0, low=6.0, high=8.0))))], x="x", y="y"))
    assert [list(line.get_ydata()) for line in axes.get_lines()].count([6.0, 8.0]) == 2


def test_lines_in_another_unit() -> None:
    of = [Line("one", list(enumerate(rows(1e6, 2e6, paper=3e6))))]
    ydata = [list(line.get_ydata()) for line in drawn(lines(of, x="x", y="rate, Mb/s", factor=1e-6)).get_lines()]
    assert [1.0, 2.0] in ydata
    assert [3.0, 3.0] in ydata


def test_a_pdf_embeds_true_type_fonts() -> None:
    document = pdf(bars(["a"], [Group("one", [1.0], [0.5])], y="rate, Mb/s"), "a figure")
    assert b"/Type3" not in document
    assert b"/FontFile2" in document


def test_a_long_legend_leaves_the_axes_as_high() -> None:
    def height(count: int) -> float:
        drawing = lines([Line(f"a setting {at}", list(enumerate(rows(1.0, 2.0)))) for at in range(count)], x="x", y="y")
        drawing.draw_without_rendering()
        return float(drawing.axes[0].get_window_extent().height)

    assert height(9) > 0.93 * height(2)


def test_where_nothing_is_there_is_no_bar_and_panels_stand_below_each_other() -> None:
    groups = [Group("one", [1.0, float("nan")], [0.5, 0.0])], [Group("one", [1.0, 2.0], [0.0, 0.0])]
    figure = panels(["a", "b"], [("y", of) for of in groups])
    above, below = drawn(figure), figure.axes[1]
    assert [text.get_text() for text in above.texts] == ["–"]
    assert above.texts[0].get_position() == (1.0, 0.0)
    assert not below.texts
    assert above.get_xlim() == below.get_xlim()


def test_curves_show_what_no_line_does() -> None:
    values = [1.0, None, 2.0, None, 3.0, 3.0]
    axes = drawn(curves([Curve("one", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], values, 0)], y="y"))
    assert axes.get_lines()[0].get_markevery() == [0, 2], "between gaps there are marks"
    assert legend(axes) == ["one"]
    axes = drawn(curves([], y="y"))
    assert [text.get_text() for text in axes.texts] == ["nothing was recorded"]


def test_curves_look_each_their_own() -> None:
    axes = drawn(curves([Curve(str(at), [1.0, 2.0], [1.0, 2.0], at) for at in range(8)], y="y"))
    looks = {(line.get_color(), line.get_linestyle()) for line in axes.get_lines()}
    assert len(looks) == 8
    orders = [line.get_zorder() for line in axes.get_lines()]
    assert orders == sorted(orders, reverse=True), "who comes first is on top"


def test_a_step_begins_where_its_interval_does() -> None:
    axes = drawn(curves([Curve("one", [5.0, 10.0, 15.0], [1.0, None, 3.0], 0, [0.5, None, 0.5])], y="y", step=True))
    line = axes.get_lines()[0]
    assert list(line.get_xdata()) == [0.0, 5.0, 5.0, 10.0, 10.0, 15.0]
    assert [str(value) for value in line.get_ydata()] == ["1.0", "1.0", "nan", "nan", "3.0", "3.0"]


def test_a_figure_on_a_page_keeps_its_text_and_no_long_numbers() -> None:
    drawn = svg(curves([Curve("a <b>", [0.0, 1 / 3, 1.0], [1 / 7, 2 / 7, 3 / 7], 0)], y="rate"))
    assert "rate</text>" in drawn
    assert "a &lt;b&gt;</text>" in drawn
    assert "Verdana" in drawn
    assert re.search(r' (?:d|x|y|transform)="[^"]*\.\d{3}', drawn) is None
