'use strict';

const cluster = require('cluster');
const { readFileSync } = require('fs');
const { join, resolve } = require('path');
const { parseArgs } = require('util');
const fastify = require('fastify');
const fastifyStatic = require('@fastify/static');
const fastifyWebsocket = require('@fastify/websocket');

const { positionals: [port, assets, workers = '1'], values: tls } = parseArgs({
  allowPositionals: true,
  options: { 'tls-port': { type: 'string' }, cert: { type: 'string' }, key: { type: 'string' } },
});

// Fastify compiles a serialiser from what a route says that it answers.
const jsonSchema = {
  querystring: {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
  },
  response: {
    200: {
      type: 'object',
      properties: { message: { type: 'string' }, number: { type: 'integer' } },
    },
  },
};

if (cluster.isPrimary && Number(workers) > 1) {
  for (let i = 0; i < Number(workers); i += 1) cluster.fork();
} else {
  serve();
}

async function serve() {
  const host = process.env.DROME_HOST ?? '127.0.0.1';
  await build({}).listen({ port: Number(port), host });
  if (tls['tls-port']) {
    const [cert, key] = [readFileSync(tls.cert), readFileSync(tls.key)];
    await build({ http2: true, https: { cert, key, allowHTTP1: true } })
      .listen({ port: Number(tls['tls-port']), host });
  }
}

function build(options) {
  // Read once, as bytes: the run measures the server, not the file system.
  const page = readFileSync(join(assets, 'html-228.html'));
  const app = fastify(options);

  app.addContentTypeParser(
    'application/octet-stream',
    { parseAs: 'buffer' },
    (request, body, done) => done(null, body),
  );
  app.get('/', async (request, reply) => reply.type('text/html').send(page));
  app.get('/hello', async (request, reply) => reply.type('text/plain').send('Hello World\n'));
  app.get('/pong', async (request, reply) => reply.type('text/plain').send('PONG'));
  app.get('/json', { schema: jsonSchema }, async (request) => ({
    message: 'Hello World',
    number: request.query.n,
  }));
  app.post('/echo', async (request, reply) =>
    reply.type('application/octet-stream').send(request.body));
  app.register(fastifyWebsocket);
  // In a plugin, as the route must be added after @fastify/websocket has been loaded.
  app.register(async (plugin) => plugin.get('/websocket', { websocket: true }, echoMessages));
  app.register(fastifyStatic, { root: resolve(assets), index: false });
  return app;
}

function echoMessages(socket) {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
}
