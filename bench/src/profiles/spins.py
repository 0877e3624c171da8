"""A server that knows what its answers cost, as spins.c describes it; one thread for all connections."""

import selectors
import socket
import sys
import time

ROUNDS = 2000

calls = [0, 0]
ns = [0, 0]
answers = 0


def busy_work(x):
    for _ in range(ROUNDS):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
    return x


def caller_a():
    busy_work(1)


def caller_b():
    busy_work(2)


def work():
    global answers
    which = 1 if answers % 3 == 2 else 0
    answers += 1
    begun = time.thread_time_ns()
    if which == 1:
        caller_b()
    else:
        caller_a()
    ns[which] += time.thread_time_ns() - begun
    calls[which] += 1


def answer(connection):
    """Answers a request, which came whole, because it is small. False: the connection is closed."""
    data = connection.recv(65536)
    if not data:
        return False
    if data.startswith(b"GET /truth "):
        body = f"{calls[0]} {ns[0]} {calls[1]} {ns[1]}\n"
    else:
        work()
        body = "Hello\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall((head + body).encode())
    return True


def main():
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(connection, selectors.EVENT_READ)
                continue
            try:
                is_open = answer(key.fileobj)
            except OSError:
                is_open = False
            if not is_open:
                selector.unregister(key.fileobj)
                key.fileobj.close()


main()
