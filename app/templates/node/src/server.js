'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

const [port, assets] = process.argv.slice(2);
const page = fs.readFileSync(path.join(assets, 'html-228.html'));

function reply(response, type, body) {
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

http.createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  if (request.method === 'POST' && url.pathname === '/echo') {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => reply(response, 'application/octet-stream', Buffer.concat(pieces)));
  } else if (url.pathname === '/') {
    reply(response, 'text/html', page);
  } else if (url.pathname === '/hello') {
    reply(response, 'text/plain', 'Hello World\n');
  } else if (url.pathname === '/json') {
    const number = Number(url.searchParams.get('n'));
    reply(response, 'application/json', JSON.stringify({ message: 'Hello World', number }));
  } else {
    response.writeHead(404).end();
  }
}).listen(Number(port), process.env.DROME_HOST ?? '127.0.0.1');
