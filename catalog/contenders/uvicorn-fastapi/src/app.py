import os
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel

ASSETS = Path(os.environ["DROME_ASSETS"])

# Read once: the run measures the server, not the file system.
PAGE = (ASSETS / "html-228.html").read_bytes()

app = FastAPI()


class Greeting(BaseModel):
    message: str
    number: int


@app.get("/", response_class=HTMLResponse)
async def page():
    return HTMLResponse(PAGE)


@app.get("/hello", response_class=PlainTextResponse)
async def hello():
    return "Hello World\n"


@app.get("/pong", response_class=PlainTextResponse)
async def pong():
    return "PONG"


@app.get("/json")
async def greeting(n: int) -> Greeting:
    return Greeting(message="Hello World", number=n)


@app.post("/echo")
async def echo(request: Request):
    return Response(await request.body(), media_type="application/octet-stream")


# Routes are tried in this order, so the files come last.
app.mount("/", StaticFiles(directory=ASSETS))
