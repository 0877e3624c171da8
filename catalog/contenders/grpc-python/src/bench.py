"""What both servers share: the service and the ports."""

import os
from pathlib import Path

import grpc
from google.protobuf.wrappers_pb2 import BytesValue


def add(server, echo, port, tls):
    """Adds what the compiler for .proto files would make of the service, and the ports."""
    method = grpc.unary_unary_rpc_method_handler(
        echo,
        request_deserializer=BytesValue.FromString,
        response_serializer=BytesValue.SerializeToString,
    )
    service = grpc.method_handlers_generic_handler("drome.Bench", {"Echo": method})
    server.add_generic_rpc_handlers((service,))

    host = os.environ.get("DROME_HOST", "127.0.0.1")
    server.add_insecure_port(f"{host}:{port}")
    if tls:
        _, tls_port, certificate, key = tls
        pair = (Path(key).read_bytes(), Path(certificate).read_bytes())
        server.add_secure_port(f"{host}:{tls_port}", grpc.ssl_server_credentials([pair]))
