"""Stands for `drome heat measure` where heats are only counted: writes a result in which every start was measured, after a short time."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("spec", "--output", "--machine", "--catalog"):
        parser.add_argument(name)
    args = parser.parse_args()
    spec = json.loads(Path(args.spec).read_text())
    time.sleep(float(os.environ.get("DROME_TEST_HEAT_S", "0.05")))
    lines = [{"drome_runs": {"version": 1, "drome": "0"}}, {"from": {"machine": args.machine}}, *rows(spec, args.machine)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    if is_cut(spec):
        Path(args.output).write_text(text)
        return
    end = {"entries": 1, "lines": len(lines), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    Path(args.output).write_text(text + json.dumps({"end": end}) + "\n")


def is_cut(spec: dict[str, Any]) -> bool:
    """Whether the result is to lack its end, so that it is refused: of a round up to an attempt, as `ROUND:ATTEMPT`."""
    round_, _, attempt = os.environ.get("DROME_TEST_CUT", "").partition(":")
    return bool(round_) and spec["heat"]["round"] == int(round_) and spec["attempt"] <= int(attempt)


def rows(spec: dict[str, Any], machine: str) -> list[dict[str, Any]]:
    run, heat = spec["run"], spec["heat"]
    own = {"name": machine, "attempt": spec["attempt"], "environment": run["environment"]}
    measured = {**heat, "started_at": "2026-01-01T00:00:00Z", "machine": own}
    names = (["hub"] if heat["hub"] else []) + heat["members"]
    return [{"run": run}, {"heat": measured}, *({"start": start(heat, name)} for name in names)]


def start(heat: dict[str, Any], name: str) -> dict[str, Any]:
    cell = {
        "warmup_ns": 1,
        "settled": True,
        "counts": "quiet",
        "turns": 1,
        "disturbed": 0,
        "elsewhere_ns": 0,
        "elsewhere_wall_ns": 1,
        "measurement": None,
    }
    return {
        "round": heat["round"],
        "heat": heat["number"],
        "contender": name,
        "copy": 0,
        "attempt": 0,
        "outcome": "ended",
        "cells": {str(number): cell for number in heat["cells"]},
        "memory_bytes": None,
        "took_ns": 1,
        "program": None,
    }


if __name__ == "__main__":
    main()
