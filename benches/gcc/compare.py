"""Replays logs of feedback in hopcast's GCC and in that of str0m, and prints the target rates of both.

python3 benches/gcc/compare.py [--record] [--keep]
    --record  run the scenes again in the simulator, and write their logs to tests/data/gcc
    --keep    write what str0m answers next to the logs

str0m comes from cargo's registry. Its estimator is private, so a copy of the crate with some items made public is built in
benches/gcc/build. Nothing else of it is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE / "build"
VERSION = "0.25.0"

PUBLIC = {
    "src/lib.rs": ["mod rtp_;", "pub(crate) mod bwe_;", "mod util;"],
    "src/bwe/mod.rs": [
        "mod acked_bitrate_estimator;",
        "mod delay;",
        "mod probe;",
        "bwe: SendSideBandwidthEstimator,",
        "struct SendSideBandwidthEstimator {",
        "delay_controller: DelayController,",
        "acked_bitrate_estimator: AckedBitrateEstimator,",
        "probe_estimator: ProbeEstimator,",
        "enum BandwidthUsage {",
    ],
    "src/bwe/delay/mod.rs": ["mod rate_control;"],
    "src/bwe/delay/control.rs": ["trendline_estimator: TrendlineEstimator,", "smoothed_rtt: MovingAverage,"],
    "src/bwe/acked_bitrate_estimator.rs": ["pub(super) fn current_estimate"],
    "src/rtp/rtcp/twcc.rs": ["pub(crate) fn test_new"],
}
"""The items that become public, each on the first line that begins with it."""
GATES = {
    "src/lib.rs": (r"#!\[deny\(missing_docs\)\]", "#![allow(warnings)]"),
    "src/rtp/rtcp/twcc.rs": (r"#\[cfg\(test\)\]\n(?=impl TwccSendRecord)", ""),
}
"""What would keep them from compiling: a lint, and the condition of a constructor that str0m has for its tests."""


def published() -> Path:
    """The sources of str0m as cargo unpacked them."""
    fetch = BUILD / "fetch"
    (fetch / "src").mkdir(parents=True, exist_ok=True)
    (fetch / "src" / "lib.rs").touch()
    (fetch / "Cargo.toml").write_text(
        '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n'
        f'[dependencies]\nstr0m = {{ version = "={VERSION}", default-features = false }}\n'
    )
    command = ["cargo", "metadata", "--format-version", "1", "--manifest-path", str(fetch / "Cargo.toml")]
    packages = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    return next(Path(package["manifest_path"]).parent for package in packages if package["name"] == "str0m")


def prepare() -> None:
    """Copies str0m, and makes public what the comparison calls."""
    copy = BUILD / "str0m"
    if copy.exists():
        return
    shutil.copytree(published(), copy)
    for file, items in PUBLIC.items():
        text = (copy / file).read_text()
        if file in GATES:
            text = replaced(text, *GATES[file], file)
        for item in items:
            name = re.sub(r"^pub\(\w+\) ", "", item)
            text = replaced(text, rf"^(\s*){re.escape(item)}", rf"\1pub {name}", file)
        (copy / file).write_text(text)


def replaced(text: str, pattern: str, by: str, file: str) -> str:
    """The text with the first match replaced."""
    text, count = re.subn(pattern, by, text, count=1, flags=re.MULTILINE)
    if not count:
        sys.exit(f"{file} of str0m {VERSION} has no {pattern}")
    return text


def main() -> None:
    """Prepares str0m, and runs the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="run the scenes in the simulator, and write their logs")
    parser.add_argument("--keep", action="store_true", help="write what str0m answers next to the logs")
    given = parser.parse_args()
    prepare()
    options = [f"--{name}" for name in ("record", "keep") if getattr(given, name)]
    command = ["cargo", "run", "--quiet", "--locked", "--manifest-path", str(HERE / "Cargo.toml"), "--", *options]
    environment = {"CARGO_TARGET_DIR": str(BUILD / "target"), **os.environ}
    sys.exit(subprocess.run(command, check=False, env=environment).returncode)


if __name__ == "__main__":
    main()
