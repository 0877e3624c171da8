"""drome, a racecourse for web servers, from Python.

`run` and `race` measure on this machine, `drome.fleet.run` on many. All work is done by the program `drome`, which the wheel carries;
results come as reports, and as pandas frames where pandas is installed.
"""

from drome._binary import Failed, binary
from drome._local import race, report, run
from drome._result import Counts, Result

__all__ = ["Counts", "Failed", "Result", "binary", "race", "report", "run"]
