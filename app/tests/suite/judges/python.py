import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Logs every request to standard error, as it does by itself."""

    protocol_version = "HTTP/1.1"
    # A head and a body are two sends; the second does not wait for an acknowledgement.
    disable_nagle_algorithm = True

    def do_GET(self):
        chunked = self.path.startswith("/chunked")
        self.send_response(200)
        if chunked and self.request_version == "HTTP/1.1":
            self.send_header("Transfer-Encoding", "chunked")
            answer = b"6\r\nHello \r\n6\r\nWorld\n\r\n0\r\n\r\n"
        elif chunked:
            self.send_header("Connection", "close")
            answer = b"Hello World\n"
        else:
            self.send_header("Content-Length", "12")
            answer = b"Hello World\n"
        self.end_headers()
        self.wfile.write(answer)


class Server(ThreadingHTTPServer):
    request_queue_size = 128


plain = Server(("127.0.0.1", {port}), Handler)
secure = Server(("127.0.0.1", {tls}), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("{dir}/cert.pem", "{dir}/key.pem")
# The handshake is the connection's thread's, not the one's that accepts.
secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=secure.serve_forever, daemon=True).start()
plain.serve_forever()
