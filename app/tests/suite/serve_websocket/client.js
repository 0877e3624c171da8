// Says messages of all kinds to a server that sends them back.
const assert = require('assert');
const { WebSocket } = require('/usr/share/nodejs/ws');

const socket = new WebSocket(process.argv[2], { rejectUnauthorized: false });
const heard = [];
let wake = () => {};
const next = async () => {
  while (heard.length === 0) await new Promise((resolve) => { wake = resolve; });
  return heard.shift();
};
socket.on('message', (data, isBinary) => { heard.push(isBinary ? data : data.toString()); wake(); });
socket.on('open', async () => {
  assert.strictEqual(socket.extensions, '');
  const large = Buffer.alloc(3_000_000, 'drome');
  for (const message of ['Grüße', '', Buffer.alloc(0), Buffer.from([0, 255]), 'x'.repeat(65_536), large]) {
    socket.send(message);
    assert.deepStrictEqual(await next(), message);
  }
  socket.send('one ', { fin: false });
  socket.ping('are you there');
  socket.send('two ', { fin: false });
  socket.send('three', { fin: true });
  assert.strictEqual(await next(), 'one two three');
  const pong = new Promise((resolve) => socket.on('pong', resolve));
  socket.ping('and now');
  assert.strictEqual((await pong).toString(), 'and now');
  for (let number = 0; number < 1000; number += 1) socket.send(String(number));
  for (let number = 0; number < 1000; number += 1) assert.strictEqual(await next(), String(number));
  socket.close(1000, 'done');
});
socket.on('close', (code) => {
  assert.strictEqual(code, 1000);
  console.log('all came back');
});
