# Unary calls with any bytes: a method called Echo sends the message back, Fail fails. Every call is a line of standard output.

import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc


class Methods(grpc.GenericRpcHandler):
    def service(self, details):
        name = details.method

        def answer(message, context):
            # One write for a line: several threads answer.
            sys.stdout.write(f"call {name} of {len(message)}\n")
            if name.endswith("/Fail"):
                context.abort(grpc.StatusCode.INTERNAL, "as asked")
            return message

        return grpc.unary_unary_rpc_method_handler(answer)


folder, plain, tls = sys.argv[1:]
sys.stdout.reconfigure(line_buffering=True)
server = grpc.server(ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((Methods(),))


def read(name):
    with open(f"{folder}/{name}", "rb") as file:
        return file.read()


identity = [(read("key.pem"), read("cert.pem"))]
server.add_insecure_port(f"127.0.0.1:{plain}")
server.add_secure_port(f"127.0.0.1:{tls}", grpc.ssl_server_credentials(identity))
server.start()
signal.sigwait({signal.SIGTERM})
server.stop(None)
