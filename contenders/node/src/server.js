'use strict';

const { readFileSync } = require('fs');
const http = require('http');
const { join } = require('path');

const [port, assets] = process.argv.slice(2);

// Read once, as bytes: the run measures the server, not the file system.
const replies = new Map([
  ['/', ['text/html', readFileSync(join(assets, 'html-228.html'))]],
  ['/hello', ['text/plain', Buffer.from('Hello World\n')]],
  ['/pong', ['text/plain', Buffer.from('PONG')]],
]);
const notFound = ['text/plain', Buffer.from('Not Found\n')];

http.createServer((request, response) => {
  const reply = replies.get(request.url);
  const [type, body] = reply ?? notFound;
  // Without a length, writeHead makes Node send the body in chunks.
  response.writeHead(reply ? 200 : 404, {
    'Content-Type': type,
    'Content-Length': body.length,
  });
  response.end(body);
}).listen(Number(port), '127.0.0.1');
