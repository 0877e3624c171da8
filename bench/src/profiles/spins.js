// A server that knows what its answers cost, as spins.c describes it.
"use strict";
const http = require("http");

const ROUNDS = 60000;
const calls = [0, 0];
const us = [0, 0];
let sink = 1;
let answers = 0;

function busy_work(x) {
    for (let i = 0; i < ROUNDS; i++) {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
    }
    return x;
}

function caller_a() {
    sink = busy_work(sink | 1);
    return "";
}

function caller_b() {
    sink = busy_work(sink | 2);
    return "";
}

// The clock of this thread; before Node 23.9, that of the process.
function clockUs() {
    const used = process.threadCpuUsage ? process.threadCpuUsage() : process.cpuUsage();
    return used.user + used.system;
}

function work() {
    const which = answers++ % 3 === 2 ? 1 : 0;
    const begun = clockUs();
    // V8 does not inline what one of its built-in functions calls: the two callers stay functions of their own.
    "x".replace("x", which === 1 ? caller_b : caller_a);
    us[which] += clockUs() - begun;
    calls[which]++;
}

const server = http.createServer((request, response) => {
    let body = "Hello\n";
    if (request.url === "/truth") {
        body = `${calls[0]} ${us[0] * 1000} ${calls[1]} ${us[1] * 1000}\n`;
    } else {
        work();
    }
    response.writeHead(200, { "Content-Type": "text/plain", "Content-Length": body.length });
    response.end(body);
});
server.listen(Number(process.argv[2]), "127.0.0.1");
