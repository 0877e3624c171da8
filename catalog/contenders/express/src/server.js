'use strict';

const cluster = require('cluster');
const { readFileSync } = require('fs');
const https = require('https');
const { join } = require('path');
const { parseArgs } = require('util');
const express = require('express');

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
  const app = express();

  app.get('/', (request, response) => response.type('text/html').send(page));
  app.get('/hello', (request, response) => response.type('text/plain').send('Hello World\n'));
  app.get('/pong', (request, response) => response.type('text/plain').send('PONG'));
  app.get('/json', sendJson);
  app.post('/echo', express.raw({ type: 'application/octet-stream', limit: '1mb' }), echo);
  app.use(express.static(assets));

  const host = process.env.DROME_HOST ?? '127.0.0.1';
  app.listen(Number(port), host);
  if (tls['tls-port']) {
    const [cert, key] = [readFileSync(tls.cert), readFileSync(tls.key)];
    https.createServer({ cert, key }, app).listen(Number(tls['tls-port']), host);
  }
}

function sendJson(request, response) {
  const { n } = request.query;
  if (!/^\d+$/.test(n)) {
    response.status(400).type('text/plain').send('n is not a number\n');
    return;
  }
  response.json({ message: 'Hello World', number: Number(n) });
}

function echo(request, response) {
  response.type('application/octet-stream').send(request.body ?? '');
}
