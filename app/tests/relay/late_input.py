"""Runs a command whose standard input comes late by so many seconds: one direction of a link that is slow.

late_input.py SECONDS COMMAND...
"""

import os
import queue
import subprocess
import sys
import threading
import time

late_s = float(sys.argv[1])
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, bufsize=0)
under_way: queue.Queue = queue.Queue()


def read() -> None:
    """Takes what comes, with the moment at which it may go on."""
    while True:
        piece = os.read(0, 1 << 16)
        under_way.put((time.monotonic() + late_s, piece))
        if not piece:
            return


threading.Thread(target=read, daemon=True).start()
while True:
    goes_on_at, piece = under_way.get()
    time.sleep(max(0.0, goes_on_at - time.monotonic()))
    if not piece:
        child.stdin.close()
        break
    try:
        child.stdin.write(piece)
    except BrokenPipeError:
        break
sys.exit(child.wait())
