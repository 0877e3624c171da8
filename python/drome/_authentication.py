"""Whether a Ray cluster asks for a token."""

from __future__ import annotations

import os
import subprocess
import sys
import time

#: Reads the list of the cluster's nodes, as any program could that reaches the cluster.
PROBE = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1]).get_all_node_info(timeout=5)
print("the nodes were read")
"""

#: A probe with a token that takes longer than this counts as unanswered, in seconds.
LONGEST_S = 60.0

#: The variables by which Ray finds a token.
TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


def asks_for_a_token(address: str) -> bool | None:
    """Whether the cluster answers only programs with a token; None if that can't be found out. Ray reads its variables only once, so each
    probe is a separate process."""
    # That a program without a token gets no answer proves something only if a program with a token gets one.
    began = time.monotonic()
    if not _is_answered(address, dict(os.environ), LONGEST_S):
        return None
    took = time.monotonic() - began
    without = {name: value for name, value in os.environ.items() if name not in TOKENS}
    return not _is_answered(address, {**without, "RAY_AUTH_MODE": "disabled"}, 3 * took + 5)


def _is_answered(address: str, environment: dict[str, str], longest_s: float) -> bool:
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROBE, address],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=longest_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and b"the nodes were read" in done.stdout
