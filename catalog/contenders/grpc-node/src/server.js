'use strict';

const cluster = require('cluster');
const { readFileSync } = require('fs');
const { join } = require('path');
const { parseArgs } = require('util');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const { positionals: [port, workers = '1'], values: tls } = parseArgs({
  allowPositionals: true,
  options: { 'tls-port': { type: 'string' }, cert: { type: 'string' }, key: { type: 'string' } },
});

if (cluster.isPrimary && Number(workers) > 1) {
  for (let i = 0; i < Number(workers); i += 1) cluster.fork();
} else {
  serve();
}

function serve() {
  const { drome } = grpc.loadPackageDefinition(protoLoader.loadSync(join(__dirname, 'bench.proto')));
  const server = new grpc.Server();
  server.addService(drome.Bench.service, { echo });

  listen(server, port, grpc.ServerCredentials.createInsecure());
  if (tls['tls-port']) {
    const pair = { cert_chain: readFileSync(tls.cert), private_key: readFileSync(tls.key) };
    listen(server, tls['tls-port'], grpc.ServerCredentials.createSsl(null, [pair]));
  }
}

function echo(call, callback) {
  callback(null, { value: call.request.value });
}

function listen(server, number, credentials) {
  const host = process.env.DROME_HOST ?? '127.0.0.1';
  server.bindAsync(`${host}:${number}`, credentials, (error) => {
    if (error) throw error;
  });
}
