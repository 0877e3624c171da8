import os
from pathlib import Path

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

ASSETS = Path(os.environ["DROME_ASSETS"])

# Read once: the run measures the server, not the file system.
PAGE = (ASSETS / "html-228.html").read_bytes()


async def page(request):
    return HTMLResponse(PAGE)


async def hello(request):
    return PlainTextResponse("Hello World\n")


async def pong(request):
    return PlainTextResponse("PONG")


async def greeting(request):
    number = int(request.query_params["n"])
    return JSONResponse({"message": "Hello World", "number": number})


async def echo(request):
    return Response(await request.body(), media_type="application/octet-stream")


async def messages(websocket):
    await websocket.accept()
    while (event := await websocket.receive())["type"] == "websocket.receive":
        # It has the text or the bytes of the message, as the event that sends one has.
        await websocket.send({**event, "type": "websocket.send"})


app = Starlette(
    routes=[
        Route("/", page),
        Route("/hello", hello),
        Route("/pong", pong),
        Route("/json", greeting),
        Route("/echo", echo, methods=["POST"]),
        WebSocketRoute("/websocket", messages),
        # Routes are tried in this order, so the files come last.
        Mount("/", StaticFiles(directory=ASSETS)),
    ]
)
