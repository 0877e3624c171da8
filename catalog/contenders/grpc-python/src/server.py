"""Usage: server.py PORT [--tls PORT CERTIFICATE KEY]"""

import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.protobuf.wrappers_pb2 import BytesValue

import bench


def echo(message, context):
    return BytesValue(value=message.value)


# As many threads as in gRPC's quick start: the pool has to be given.
server = grpc.server(ThreadPoolExecutor(max_workers=10))
bench.add(server, echo, sys.argv[1], sys.argv[2:])
server.start()
server.wait_for_termination()
