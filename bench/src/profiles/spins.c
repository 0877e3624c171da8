/* A server of one thread that knows what its answers cost: every answer takes some CPU time in one loop, which two functions call in
   turns of two to one. The loop is part of its callers' code, as the compiler has inlined it. GET /truth tells how often each was called and
   how long that took by the thread's clock. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 60000

typedef unsigned long long number;

static volatile number sink = 1;
static number calls[2], ns[2];

__attribute__((always_inline)) static inline void busy_work(number x) {
    for (int i = 0; i < ROUNDS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
}

__attribute__((noinline, noclone)) static void caller_a(void) {
    busy_work(sink | 1);
    __asm__ volatile("");
}

__attribute__((noinline, noclone)) static void caller_b(void) {
    busy_work(sink | 2);
    __asm__ volatile("");
}

static number clock_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (number)time.tv_sec * 1000000000u + (number)time.tv_nsec;
}

static void work(void) {
    static number answers;
    int which = answers++ % 3 == 2;
    number begun = clock_ns();
    if (which) {
        caller_b();
    } else {
        caller_a();
    }
    ns[which] += clock_ns() - begun;
    calls[which]++;
}

/* Answers a request. It came whole, because it is small. */
static int serve(int fd) {
    static char data[65536]; /* Not on the stack, of which a sample has only the top. */
    char body[128] = "Hello\n", answer[512];
    ssize_t n = read(fd, data, sizeof data - 1);
    if (n <= 0) return -1;
    data[n] = 0;
    if (strncmp(data, "GET /truth ", 11) == 0) {
        snprintf(body, sizeof body, "%llu %llu %llu %llu\n", calls[0], ns[0], calls[1], ns[1]);
    } else {
        work();
    }
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
    return write(fd, answer, (size_t)length) < 0 ? -1 : 0;
}

int main(int count, char **words) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, poll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM, 0);
    if (count < 2) return 2;
    at.sin_port = htons((unsigned short)atoi(words[1]));
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1024)) return 1;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd != listener) {
                if (serve(fd) < 0) close(fd);
                continue;
            }
            fd = accept(listener, 0, 0);
            if (fd < 0) continue;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            event.data.fd = fd;
            epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
        }
    }
}
