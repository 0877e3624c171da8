// Sends every message back, and has a line for each.
const fs = require('fs');
const { WebSocketServer } = require('/usr/share/nodejs/ws');
const identity = { cert: fs.readFileSync('{dir}/cert.pem'), key: fs.readFileSync('{dir}/key.pem') };
const echo = (server, port) => {
  new WebSocketServer({ server }).on('connection', (socket, request) => {
    socket.on('message', (message, isBinary) => {
      fs.writeSync(1, `message ${request.url}\n`);
      socket.send(message, { binary: isBinary });
    });
  });
  server.listen(port, '127.0.0.1');
};
echo(require('http').createServer(), {port});
echo(require('https').createServer(identity), {tls});
