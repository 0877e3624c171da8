// Node has no access log: this one has a line for every request that the server took from a connection.
const fs = require('fs');
const answer = (request, response) => {
  fs.writeSync(1, `"${request.method} ${request.url} HTTP/${request.httpVersion}"\n`);
  if (request.url.startsWith('/chunked')) {
    response.write('Hello ');
    response.end('World\n');
  } else {
    response.writeHead(200, { 'Content-Length': 12 });
    response.end('Hello World\n');
  }
};
const identity = { cert: fs.readFileSync('{dir}/cert.pem'), key: fs.readFileSync('{dir}/key.pem') };
require('http').createServer(answer).listen({port}, '127.0.0.1');
require('http2').createSecureServer({ ...identity, allowHTTP1: true }, answer).listen({tls}, '127.0.0.1');
