/* A server of one thread that does some work for every request. Its revisions are made from this file: WORK and LEAK_BYTES are
   replaced, and lines are added. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORK 60000
#define LEAK_BYTES 0

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nHello\n";
static volatile unsigned long sink;
static void *volatile kept;

static void work(void) {
    /* Each step needs the result of the one before: a multiplication and an addition take four to five cycles on every processor of the
       last ten years, whereas what goes through memory takes one on some and five on others. */
    unsigned long x = sink;
    for (unsigned long i = 0; i < WORK; i++) x = x * 6364136223846793005UL + 1442695040888963407UL;
    sink = x;
#if LEAK_BYTES
    void **block = malloc(LEAK_BYTES);
    if (block) {
        *block = kept;
        kept = block;
    }
#endif
}

/* Answers every request in what came; requests have no bodies and are never cut in two, because they are small. */
static int serve(int fd) {
    char data[65536];
    ssize_t n = read(fd, data, sizeof data - 1);
    if (n <= 0) return -1;
    data[n] = 0;
    for (char *end = strstr(data, "\r\n\r\n"); end; end = strstr(end + 4, "\r\n\r\n")) {
        work();
        if (write(fd, answer, sizeof answer - 1) < 0) return -1;
    }
    return 0;
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
