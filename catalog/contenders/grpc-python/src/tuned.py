"""Usage: tuned.py PORT WORKERS [--tls PORT CERTIFICATE KEY]"""

import asyncio
import multiprocessing
import signal
import sys
from multiprocessing.connection import wait

import grpc
from google.protobuf.wrappers_pb2 import BytesValue

import bench


async def echo(message, context):
    return BytesValue(value=message.value)


async def serve(port, tls):
    # All processes listen at the same port, and the kernel shares out connections.
    server = grpc.aio.server(options=[("grpc.so_reuseport", 1)])
    bench.add(server, echo, port, tls)
    await server.start()
    await server.wait_for_termination()


def work(port, tls):
    asyncio.run(serve(port, tls))


if __name__ == "__main__":
    port, count, *tls = sys.argv[1:]
    # Forked before there is any server, as gRPC's documentation says.
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=work, args=(port, tls), daemon=True) for _ in range(int(count))]
    for worker in workers:
        worker.start()
    # An exit ends the others as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    wait([worker.sentinel for worker in workers])
    sys.exit("a worker has ended")
