import json
import os
import sys
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

port, assets = sys.argv[1:]

# Read once: the run measures the server, not the file system.
PAGE = Path(assets, "html-228.html").read_bytes()


class Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        match url.path:
            case "/":
                self.reply("text/html", PAGE)
            case "/hello":
                self.reply("text/plain", b"Hello World\n")
            case "/pong":
                self.reply("text/plain", b"PONG")
            case "/json":
                number = int(parse_qs(url.query)["n"][0])
                greeting = {"message": "Hello World", "number": number}
                self.reply("application/json", json.dumps(greeting, separators=(",", ":")).encode())
            case _:
                # The module's own: the file of that name, or a 404.
                super().do_GET()

    def do_POST(self):
        if urlsplit(self.path).path != "/echo":
            self.send_error(404)
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.reply("application/octet-stream", body)

    def reply(self, content_type, body):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        """Write no line for each request; errors still go to stderr."""


# HTTPServer serves one request at a time and speaks HTTP/1.0; both are its
# defaults, as is a backlog of 5.
HTTPServer((os.environ.get("DROME_HOST", "127.0.0.1"), int(port)), partial(Handler, directory=assets)).serve_forever()
