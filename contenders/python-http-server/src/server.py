import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

port, assets = sys.argv[1:]

# Read once: the run measures the server, not the file system.
REPLIES = {
    "/": ("text/html", Path(assets, "html-228.html").read_bytes()),
    "/hello": ("text/plain", b"Hello World\n"),
    "/pong": ("text/plain", b"PONG"),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path not in REPLIES:
            self.send_error(404)
            return
        content_type, body = REPLIES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        """Write no line for each request; errors still go to stderr."""


# HTTPServer serves one request at a time and speaks HTTP/1.0; both are its
# defaults, as is a backlog of 5.
HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
