# Sends every message back, and has a line for each.
import asyncio
import ssl

import websockets


async def echo(socket):
    async for message in socket:
        print("message", socket.path, flush=True)
        await socket.send(message)


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("{dir}/cert.pem", "{dir}/key.pem")
    async with websockets.serve(echo, "127.0.0.1", {port}):
        async with websockets.serve(echo, "127.0.0.1", {tls}, ssl=context):
            await asyncio.Future()


asyncio.run(main())
