import json
import os
import sys
from pathlib import Path

import waitress
from bottle import Bottle, request, response, static_file

port, assets = sys.argv[1:]

# Read once: the run measures the server, not the file system.
PAGE = Path(assets, "html-228.html").read_bytes()

app = Bottle()


@app.get("/")
def page():
    response.content_type = "text/html"
    return PAGE


@app.get("/hello")
def hello():
    response.content_type = "text/plain"
    return b"Hello World\n"


@app.get("/pong")
def pong():
    response.content_type = "text/plain"
    return b"PONG"


@app.get("/json")
def greeting():
    # A dict would be written by Bottle, with a space after each comma and colon.
    greeting = {"message": "Hello World", "number": int(request.query["n"])}
    response.content_type = "application/json"
    return json.dumps(greeting, separators=(",", ":"))


@app.post("/echo")
def echo():
    response.content_type = "application/octet-stream"
    return request.body.read()


# Paths without a parameter come first, so `hello` and `pong` are not the files of these names.
@app.get("/<name>")
def file(name):
    return static_file(name, root=assets)


# Waitress would accept 100 connections only. With select, its default, it could have no more than 1024.
HOST = os.environ.get("DROME_HOST", "127.0.0.1")
waitress.serve(app, host=HOST, port=int(port), connection_limit=4096, asyncore_use_poll=True)
