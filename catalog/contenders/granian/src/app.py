import json
import os
from pathlib import Path
from urllib.parse import parse_qs

# Read once: the run measures the server, not the file system.
PAGE = Path(os.environ["DROME_ASSETS"], "html-228.html").read_bytes()


async def page(scope, receive):
    return 200, b"text/html", PAGE


async def hello(scope, receive):
    return 200, b"text/plain", b"Hello World\n"


async def pong(scope, receive):
    return 200, b"text/plain", b"PONG"


async def greeting(scope, receive):
    number = int(parse_qs(scope["query_string"])[b"n"][0])
    greeting = {"message": "Hello World", "number": number}
    return 200, b"application/json", json.dumps(greeting, separators=(",", ":")).encode()


async def echo(scope, receive):
    body = bytearray()
    more = True
    while more:
        event = await receive()
        body += event.get("body", b"")
        more = event.get("more_body", False)
    return 200, b"application/octet-stream", bytes(body)


async def messages(receive, send):
    await receive()  # websocket.connect
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        # It has the text or the bytes of the message, as the event that sends one has.
        await send({**event, "type": "websocket.send"})


async def reject(receive, send):
    await send({"type": "websocket.close"})


async def not_found(scope, receive):
    return 404, b"text/plain", b"Not Found\n"


ROUTES = {
    ("GET", "/"): page,
    ("GET", "/hello"): hello,
    ("GET", "/pong"): pong,
    ("GET", "/json"): greeting,
    ("POST", "/echo"): echo,
}


async def app(scope, receive, send):
    """An ASGI application without a framework, for `--interface asginl` (no lifespan)."""
    if scope["type"] == "websocket":
        await (messages if scope["path"] == "/websocket" else reject)(receive, send)
        return
    handler = ROUTES.get((scope["method"], scope["path"]), not_found)
    status, content_type, body = await handler(scope, receive)
    headers = [(b"content-type", content_type), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
