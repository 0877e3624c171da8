import json
import os
from pathlib import Path

from fly import Fly
from fly.response import HTMLResponse, PlainResponse, Response
from fly.types import Query

# Read once: the run measures the server, not the file system.
PAGE = Path(os.environ["DROME_ASSETS"], "html-228.html").read_text()

app = Fly()
app.mount(os.environ["DROME_FILES"])


@app.get("/")
def page():
    return HTMLResponse(200, [], PAGE)


@app.get("/hello")
def hello():
    return PlainResponse(200, [], "Hello World\n")


@app.get("/pong")
def pong():
    return PlainResponse(200, [], "PONG")


@app.get("/json")
def greeting(n: Query):
    # fly's JSONResponse writes spaces after its separators.
    greeting = {"message": "Hello World", "number": int(n)}
    body = json.dumps(greeting, separators=(",", ":")).encode()
    return Response(200, [], body, content_type="application/json")
