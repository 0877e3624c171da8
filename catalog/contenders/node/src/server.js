'use strict';

const cluster = require('cluster');
const { createReadStream, readFileSync } = require('fs');
const { stat } = require('fs/promises');
const http = require('http');
const http2 = require('http2');
const { extname, join } = require('path');
const { pipeline } = require('stream');
const { parseArgs } = require('util');

// The largest body that /echo sends back, in bytes.
const MAX_BODY_LENGTH = 1 << 20;

const FILES = new Set(['/html-147.html', '/png-50k.png', '/jpeg-200k.jpg', '/download-1m.bin']);
const TYPES = {
  '.html': 'text/html',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.bin': 'application/octet-stream',
};

const { positionals: [port, assets, workers = '1'], values: tls } = parseArgs({
  allowPositionals: true,
  options: { 'tls-port': { type: 'string' }, cert: { type: 'string' }, key: { type: 'string' } },
});

if (cluster.isPrimary && Number(workers) > 1) {
  for (let i = 0; i < Number(workers); i += 1) cluster.fork();
} else {
  serve();
}

function serve() {
  // Read once, as bytes: the run measures the server, not the file system.
  const page = readFileSync(join(assets, 'html-228.html'));
  const routes = {
    'GET /': (request, response) => send(response, 200, 'text/html', page),
    'GET /hello': (request, response) => send(response, 200, 'text/plain', 'Hello World\n'),
    'GET /pong': (request, response) => send(response, 200, 'text/plain', 'PONG'),
    'GET /json': sendJson,
    'POST /echo': echo,
  };

  const answer = (request, response) => {
    const [path, query] = request.url.split('?', 2);
    const route = routes[`${request.method} ${path}`];
    if (route) {
      route(request, response, query);
    } else if (request.method === 'GET' && FILES.has(path)) {
      sendFile(response, path);
    } else {
      send(response, 404, 'text/plain', 'Not Found\n');
    }
  };
  const host = process.env.DROME_HOST ?? '127.0.0.1';
  http.createServer(answer).listen(Number(port), host);
  if (tls['tls-port']) {
    const [cert, key] = [readFileSync(tls.cert), readFileSync(tls.key)];
    http2.createSecureServer({ cert, key, allowHTTP1: true }, answer)
      .listen(Number(tls['tls-port']), host);
  }
}

function send(response, status, type, body) {
  // Without a length, writeHead makes Node send the body in chunks.
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

function sendJson(request, response, query) {
  const n = new URLSearchParams(query).get('n');
  if (!/^\d+$/.test(n)) {
    send(response, 400, 'text/plain', 'n is not a number\n');
    return;
  }
  const body = JSON.stringify({ message: 'Hello World', number: Number(n) });
  send(response, 200, 'application/json', body);
}

function echo(request, response) {
  const chunks = [];
  let length = 0;
  request.on('data', (chunk) => {
    length += chunk.length;
    if (length <= MAX_BODY_LENGTH) chunks.push(chunk);
  });
  request.on('end', () => {
    if (length > MAX_BODY_LENGTH) {
      send(response, 413, 'text/plain', 'too large\n');
    } else {
      send(response, 200, 'application/octet-stream', Buffer.concat(chunks));
    }
  });
}

async function sendFile(response, name) {
  try {
    const path = join(assets, name);
    const { size } = await stat(path);
    response.writeHead(200, { 'Content-Type': TYPES[extname(name)], 'Content-Length': size });
    // A client that hangs up early concerns nobody else.
    pipeline(createReadStream(path), response, () => {});
  } catch {
    send(response, 404, 'text/plain', 'Not Found\n');
  }
}
