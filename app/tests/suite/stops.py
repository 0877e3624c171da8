# PORT HOW AFTER: answers on a port, until AFTER seconds after the load has begun, which is when so many requests came that they are no
# verification. Then it stops, as HOW says:
# killed, silent (a stopped process), refuses, closes or resets what it accepts, half-answers (an answer is cut in its body),
# half-killed and half-silent (one of two processes), or never.
import os, select, signal, socket, struct, sys, time
port, how, after = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World\n'
RESET = struct.pack('ii', 1, 0)
if how.startswith('half-') and how != 'half-answers':
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    is_one_of_two, is_second = True, os.fork() == 0
else:
    is_one_of_two, is_second = False, True
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
# Each of two has its own share of the connections.
if is_one_of_two: listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
listener.bind(('127.0.0.1', port))
listener.listen(1024)
listener.setblocking(False)
watch = select.poll()
watch.register(listener, select.POLLIN)
NONE = b'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
open_ones, parts, requests, stops_at, is_up = {}, {}, 0, None, True

def drop(fd, resets=False):
    one = open_ones.pop(fd)
    parts.pop(fd, None)
    try: watch.unregister(fd)
    except KeyError: pass
    if resets: one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    one.close()

def stop():
    if how.endswith('killed') and is_second: os.kill(os.getpid(), signal.SIGKILL)
    if how.endswith('silent') and is_second: os.kill(os.getpid(), signal.SIGSTOP)
    if how == 'refuses':
        watch.unregister(listener)
        listener.close()
    if how in ('refuses', 'closes', 'resets'):
        for fd in list(open_ones): drop(fd, how != 'closes')

def accept():
    try: one, _ = listener.accept()
    except BlockingIOError: return
    if not is_up and how in ('closes', 'resets'):
        if how == 'resets': one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        one.close()
        return
    open_ones[one.fileno()] = one
    watch.register(one, select.POLLIN)

def answer(fd):
    global requests, stops_at
    try: got = open_ones[fd].recv(65536)
    except OSError: got = b''
    if not got: return drop(fd)
    # A request may come in fragments.
    got = parts.pop(fd, b'') + got
    if not got.endswith(b'\r\n\r\n'):
        parts[fd] = got
        return
    is_kept = b'onnection: close' not in got
    n = got.count(b'\r\n\r\n')
    requests += n
    if requests > 200 and stops_at is None: stops_at = time.monotonic() + after
    is_cut = not is_up and how == 'half-answers'
    try: open_ones[fd].sendall(ANSWER[:-4] if is_cut else (NONE if b'no-such' in got else ANSWER) * n)
    except OSError: pass
    if is_cut: watch.unregister(fd)
    elif not is_kept: drop(fd)

while True:
    rest = None if stops_at is None or not is_up else max(0, stops_at - time.monotonic()) * 1000
    for fd, _ in watch.poll(rest):
        if fd in open_ones: answer(fd)
        elif fd == listener.fileno(): accept()
    if is_up and stops_at is not None and time.monotonic() >= stops_at:
        is_up = False
        stop()
