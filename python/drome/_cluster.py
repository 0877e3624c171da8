"""A Ray cluster: how drome connects to one, and which of its nodes may measure."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import Any

from drome._authentication import asks_for_a_token
from drome._binary import Failed

#: The Ray resource of nodes that may measure: each has one of it.
RESOURCE = "drome"

#: How such a node is started.
START = f"`ray start --address=HEAD:6379 --resources='{{\"{RESOURCE}\": 1}}'`"


def connect(address: str | None = "auto") -> None:
    """Connects to a Ray cluster, with its token, and without Ray's telemetry. A cluster without authentication is refused: whoever reaches
    one may run anything on it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    mode = os.environ.setdefault("RAY_AUTH_MODE", "token")
    if mode != "token":
        raise Failed(f"RAY_AUTH_MODE is {mode!r}: start the cluster with RAY_AUTH_MODE=token, and unset it here", 2)
    ray = ray_itself()
    # Ray reads the variable once: a program that used Ray before drome may have started it without a token.
    from ray._private.authentication.authentication_utils import is_token_auth_enabled

    if not is_token_auth_enabled():
        raise Failed("Ray runs here without authentication: set RAY_AUTH_MODE=token before Ray is used", 2)
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    # That this program has a token does not say that the cluster asks for it.
    asks = asks_for_a_token(ray.get_runtime_context().gcs_address)
    if asks is False:
        ray.shutdown()
        raise Failed("the cluster answers programs without a token: start all of its nodes with RAY_AUTH_MODE=token", 2)
    if asks is None:
        print("drome: can't find out whether the cluster asks for a token: see docs/fleet.md", file=sys.stderr)


def ray_itself() -> Any:
    """The module `ray`. Raises `ImportError`, which says how to install it, if it is missing."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("a fleet needs Ray: `pip install 'drome-bench[ray]'`") from error
    return ray


def nodes() -> set[str]:
    """The IDs of the nodes that may measure."""
    return {str(node["NodeID"]) for node in ray_itself().nodes() if node["Alive"] and node["Resources"].get(RESOURCE)}


def is_shared() -> bool:
    """Whether several nodes are on one host, so that its name is not enough to tell machines apart."""
    names = Counter(node["NodeManagerHostname"] for node in ray_itself().nodes() if node["Alive"])
    return max(names.values(), default=1) > 1
