#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char page[4096];
static size_t page_bytes;

static int send_all(int client, const char *bytes, size_t left) {
    while (left > 0) {
        ssize_t n = write(client, bytes, left);
        if (n <= 0)
            return 0;
        bytes += n;
        left -= n;
    }
    return 1;
}

static int answer(int client, const char *status, const char *type, const char *body, size_t bytes, int closes) {
    char out[8192];
    int head = snprintf(out, sizeof out, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n", status,
                        type, bytes, closes ? "Connection: close\r\n" : "");
    memcpy(out + head, body, bytes);
    return send_all(client, out, head + bytes);
}

static int is_path(const char *request, const char *path) {
    size_t n = strlen(path);
    const char *target = strchr(request, ' ');
    return target && !strncmp(target + 1, path, n) && (target[1 + n] == ' ' || target[1 + n] == '?');
}

/* Answers one request after the other, until the client closes or asks for it. */
static void *serve(void *argument) {
    int client = (int)(long)argument;
    char in[16384];
    size_t have = 0;
    for (;;) {
        in[have] = 0;
        char *end = strstr(in, "\r\n\r\n");
        if (!end) {
            ssize_t n = have < sizeof in - 1 ? read(client, in + have, sizeof in - 1 - have) : 0;
            if (n <= 0)
                break;
            have += n;
            continue;
        }
        *end = 0; /* the head is a string of its own now */
        int closes = strcasestr(in, "\nconnection: close") != NULL, ok;
        if (is_path(in, "/hello"))
            ok = answer(client, "200 OK", "text/plain", "Hello World\n", 12, closes);
        else if (is_path(in, "/"))
            ok = answer(client, "200 OK", "text/html", page, page_bytes, closes);
        else
            ok = answer(client, "404 Not Found", "text/plain", "not found\n", 10, closes);
        if (!ok || closes)
            break;
        have -= end + 4 - in;
        memmove(in, end + 4, have);
    }
    close(client);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    char path[4096];
    snprintf(path, sizeof path, "%s/html-228.html", argv[2]);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    page_bytes = fread(page, 1, sizeof page, file);
    fclose(file);
    signal(SIGPIPE, SIG_IGN);

    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    const char *host = getenv("DROME_HOST");
    if (inet_pton(AF_INET, host ? host : "127.0.0.1", &at.sin_addr) != 1)
        return 2;
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4096)) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int client = accept(listener, NULL, NULL);
        if (client < 0)
            continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, (void *)(long)client))
            close(client);
        else
            pthread_detach(thread);
    }
}
