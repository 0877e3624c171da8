"""A cluster and its driver in a process of their own, for a test that kills them. Prints the run's name, then a line for each heat."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drome import fleet
from drome._binary import call
from tests.support import COUNTED, Nodes


def told(line: Mapping[str, Any]) -> None:
    print(line["outcome"], flush=True)


def main() -> None:
    own = Path(os.environ["DROME_TEST_HOME"]) / "own"
    run = call(["heat", "plan", "small", "--rounds", "20", "--machines", "2", "--catalog", str(own)]).strip()
    print(run, flush=True)
    nodes = Nodes(2)
    fleet.run(resume=run, machines=2, catalog=[own], address=nodes.address, command=COUNTED, on_commit=told)


if __name__ == "__main__":
    main()
