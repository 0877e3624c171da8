'use strict';

const cluster = require('cluster');
const { readFileSync } = require('fs');
const { join } = require('path');
const express = require('express');

const [port, assets, workers = '1'] = process.argv.slice(2);

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

  app.listen(Number(port), process.env.DROME_HOST ?? '127.0.0.1');
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
