import os
from pathlib import Path

from flask import Flask, Response, json, request

ASSETS = Path(os.environ["DROME_ASSETS"])

# Read once: the run measures the server, not the file system.
PAGE = (ASSETS / "html-228.html").read_bytes()

app = Flask(__name__, static_folder=ASSETS, static_url_path="")


@app.get("/")
def page():
    return Response(PAGE, mimetype="text/html")


@app.get("/hello")
def hello():
    return Response("Hello World\n", mimetype="text/plain")


@app.get("/pong")
def pong():
    return Response("PONG", mimetype="text/plain")


@app.get("/json")
def greeting():
    # Flask's jsonify would end the body with a newline.
    greeting = {"message": "Hello World", "number": int(request.args["n"])}
    return Response(json.dumps(greeting, separators=(",", ":")), mimetype="application/json")


@app.post("/echo")
def echo():
    return Response(request.get_data(), mimetype="application/octet-stream")
