# Says messages of all kinds to a server that sends them back.
import asyncio
import ssl
import sys

import websockets


async def main(url):
    context = ssl._create_unverified_context() if url.startswith("wss") else None
    async with websockets.connect(url, ssl=context, max_size=None) as socket:
        large = bytes(range(256)) * 12_000
        for message in ["Grüße", "", b"", b"\x00\xff" * 70, "x" * 65_536, large]:
            await socket.send(message)
            assert await socket.recv() == message
        await socket.send(["one ", "two ", "three"])
        assert await socket.recv() == "one two three"
        await asyncio.wait_for(await socket.ping(b"are you there"), 60)
        for number in range(1000):
            await socket.send(str(number))
        for number in range(1000):
            assert await socket.recv() == str(number)
        await socket.close(1000, "done")
        assert socket.close_code == 1000, socket.close_code


asyncio.run(main(sys.argv[1]))
print("all came back")
