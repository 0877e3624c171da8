"""A link between two network devices that it makes: it delays packets, loses some, and carries only so many a second, in each direction.

link.py HERE THERE DELAY_S ONE_LOST_OF PACKETS_PER_S

Of so many packets one is lost, and more than so many a second wait, then are lost; 0 is for none and for any number. It says `ready` when
the devices exist, and ends when its standard input does.
"""

import collections
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
LARGEST = 65_536

# How long a packet waits at the most for those before it.
LONGEST_QUEUE_S = 0.2

here_name, there_name = sys.argv[1:3]
delay_s = float(sys.argv[3])
one_lost_of, packets_per_s = int(sys.argv[4]), int(sys.argv[5])


def device(name: str) -> int:
    """A new device, whose packets are read from and written to this descriptor."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def carry(source: int, sink: int, end: int) -> None:
    """Takes packets from one device to the other, until `end` ends."""
    under_way: collections.deque = collections.deque()
    nth, free_at = 0, 0.0
    while True:
        wait_s = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        ready = select.select([source, end], [], [], wait_s)[0]
        if end in ready:
            return
        if source in ready:
            try:
                packet = os.read(source, LARGEST)
            except OSError:
                return  # The device is gone.
            now = time.monotonic()
            nth += 1
            goes_at = max(now, free_at)
            is_lost = one_lost_of > 0 and nth % one_lost_of == 0
            if not is_lost and goes_at - now < LONGEST_QUEUE_S:
                free_at = goes_at + (1 / packets_per_s if packets_per_s else 0.0)
                under_way.append((goes_at + delay_s, packet))
        while under_way and under_way[0][0] <= time.monotonic():
            try:
                os.write(sink, under_way.popleft()[1])
            except OSError:
                pass  # The device is down.


try:
    os.nice(-15)  # A link does not wait for a processor.
except PermissionError:
    pass
here, there = device(here_name), device(there_name)
print("ready", flush=True)
# Each direction has a process of its own; both see when standard input ends.
carry(*((here, there) if os.fork() else (there, here)), 0)
