import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

HOST = os.environ.get("DROME_HOST", "127.0.0.1")
PORT, ASSETS = int(sys.argv[1]), Path(sys.argv[2])
PAGE = (ASSETS / "html-228.html").read_bytes()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/":
            self.reply("text/html", PAGE)
        elif url.path == "/hello":
            self.reply("text/plain", b"Hello World\n")
        elif url.path == "/json":
            number = int(parse_qs(url.query)["n"][0])
            message = {"message": "Hello World", "number": number}
            self.reply("application/json", json.dumps(message, separators=(",", ":")).encode())
        else:
            self.send_error(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if urlsplit(self.path).path == "/echo":
            self.reply("application/octet-stream", body)
        else:
            self.send_error(404)

    def reply(self, content_type, body):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        """Write no line for each request; errors still go to stderr."""


ThreadingHTTPServer((HOST, PORT), Handler).serve_forever()
