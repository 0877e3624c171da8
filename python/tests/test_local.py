"""Runs and races on this machine, and what frames have."""

from __future__ import annotations

from pathlib import Path

import pytest

import drome
from drome import fleet
from drome._binary import call
from drome._heat import machine_name


def test_a_race_has_a_frame_with_a_row_for_each_server(home: Path) -> None:
    serve = f"{drome.binary()} serve --port {{port}}"
    slow = f"{serve} --spin 200us"
    result = drome.race(serve, slow, budget="1min", more=["--duration", "1s"], allow_busy=True, seed=1)
    frame = result.contenders()
    assert len(frame) == 2 and (frame["rate_per_s"] > 0).all()
    assert frame["rate_per_s"].max() > 2 * frame["rate_per_s"].min()
    assert result.run == drome.report().run


def test_what_drome_says_is_the_exceptions_message(home: Path) -> None:
    with pytest.raises(drome.Failed, match="there is no study `nosuch`") as failed:
        call(["heat", "plan", "nosuch"])
    assert failed.value.code == 2


def test_a_string_in_place_of_a_list_is_refused_and_not_taken_letter_by_letter() -> None:
    with pytest.raises(TypeError, match=r"`catalog` is a list: write `catalog=\['own'\]`"):
        drome.run("today", catalog="own")
    with pytest.raises(TypeError, match="`contenders` is a list"):
        drome.run("today", contenders="nginx")
    with pytest.raises(TypeError, match=r"`more` is a list: write `more=\['--threads=1'\]`"):
        fleet.load("http://127.0.0.1:9/", machines=1, more="--threads=1")
    with pytest.raises(TypeError, match="`command` is a list"):
        fleet.run("today", machines=1, command="drome heat measure")


def test_machines_of_one_group_have_names_of_their_own() -> None:
    group = "deployment-of-many-workers-in-a-cluster-with-a-long-name-" + "0" * 20
    assert machine_name(f"{group}-abc12", None) != machine_name(f"{group}-xyz34", None)
    assert len(machine_name(f"{group}-abc12", None)) == 64
    shared = machine_name(f"{group}-abc12", "0123456789abcdef")
    assert shared.endswith("-abc12-01234567") and len(shared) <= 63
    assert machine_name("--", None) == "nameless"
