// Asks a server over some connections that stay open, and says how long it took.
//
//   load PORT REQUESTS COUNT CONNECTIONS     one JSON line of figures
//   load events PORT PATH CLIENTS REQUESTS RATE SECONDS
//
// A line of REQUESTS is `METHOD TARGET` or `METHOD TARGET TYPE BODY`; they are asked from the first on,
// again and again. A status of 400 or more ends the program with status 1. `events` has CLIENTS read
// PATH, asks the lines RATE times a second, and counts what arrives.
//
// Build: cc -O2 load.c -o load
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "timing.h"

enum { BUFFER = 1 << 18 };

struct connection {
  int socket;
  double asked, first;
  // What of the answer is still to come: its head, a body of that length, or chunks.
  enum { HEAD, LENGTH, CHUNK_SIZE, CHUNK, TRAILER } stage;
  long left, read;
  size_t kept;
  char head[16384];
};

static char **requests;
static long request_count, asked, answered, bytes, hits;
static struct latencies last_bytes, first_bytes;
static int port;

static void fail(const char *what, const char *more) {
  fprintf(stderr, "load: %s: %.2000s\n", what, more);
  exit(1);
}

static void read_requests(const char *path) {
  FILE *file = fopen(path, "r");
  char *line = 0;
  size_t room = 0;
  if (!file) fail(path, strerror(errno));
  while (getline(&line, &room, file) > 0) {
    char *type = 0, *body = 0, *text = 0;
    line[strcspn(line, "\n")] = 0;
    char *target = strchr(line, ' ');
    if (!target) continue;
    *target++ = 0;
    if ((type = strchr(target, ' '))) *type++ = 0;
    if (type && (body = strchr(type, ' '))) *body++ = 0;
    int length = asprintf(
        &text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\n", line, target, port);
    if (body)
      length = asprintf(
          &text, "%sContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s", text, type, strlen(body),
          body);
    else
      length = asprintf(&text, "%s\r\n", text);
    if (length < 0) abort();
    requests = realloc(requests, (request_count + 1) * sizeof *requests);
    requests[request_count++] = text;
  }
  fclose(file);
  if (!request_count) fail(path, "no requests");
}

static int connected(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int one = socket(AF_INET, SOCK_STREAM, 0);
  if (one < 0 || connect(one, (struct sockaddr *)&address, sizeof address))
    fail("connect", strerror(errno));
  return one;
}

static void send_all(int socket, const char *text) {
  for (size_t left = strlen(text); left;) {
    ssize_t count = write(socket, text, left);
    if (count < 0) fail("send", strerror(errno));
    text += count, left -= count;
  }
}

static void ask(struct connection *connection) {
  connection->stage = HEAD;
  connection->kept = 0;
  connection->first = 0;
  connection->asked = now();
  send_all(connection->socket, requests[asked++ % request_count]);
}

static void done(struct connection *connection) {
  double time = now();
  answered++;
  add_latency(&last_bytes, time - connection->asked);
  add_latency(&first_bytes, connection->first - connection->asked);
}

// Reads a head that is whole.
static void read_head(struct connection *connection) {
  const char *head = connection->head;
  int status = atoi(head + 9);
  if (status >= 400 || status < 200) fail("answer", head);
  const char *length = strcasestr(head, "\r\ncontent-length:");
  if (strcasestr(head, "\r\ntransfer-encoding: chunked")) {
    connection->stage = CHUNK_SIZE;
  } else if (status == 204 || status == 304) {
    connection->stage = LENGTH, connection->left = 0;
  } else if (length) {
    connection->stage = LENGTH, connection->left = atol(length + 17);
  } else {
    fail("answer without a length", head);
  }
  connection->kept = 0;
}

// Takes bytes of an answer; gives whether it is whole.
static int take(struct connection *connection, const char *from, size_t count) {
  const char *end = from + count;
  for (;;) {
    switch (connection->stage) {
      case HEAD:
      case CHUNK_SIZE:
      case TRAILER: {
        if (from == end) return 0;
        if (connection->kept + 2 > sizeof connection->head) fail("answer", "its head is too long");
        connection->head[connection->kept++] = *from++;
        connection->head[connection->kept] = 0;
        const char *mark = connection->stage == HEAD ? "\r\n\r\n" : "\r\n";
        size_t size = strlen(mark);
        if (connection->kept < size ||
            memcmp(connection->head + connection->kept - size, mark, size))
          break;
        if (connection->stage == HEAD) {
          read_head(connection);
          if (connection->stage == LENGTH && !connection->left) return 1;
        } else if (connection->stage == TRAILER) {
          if (connection->kept == 2) return 1;
          connection->kept = 0;
        } else if (connection->kept > 2) {
          // A break of line before a size ends the chunk before.
          connection->left = strtol(connection->head, 0, 16);
          connection->stage = connection->left ? CHUNK : TRAILER;
          connection->kept = 0;
        } else {
          connection->kept = 0;
        }
        break;
      }
      case LENGTH:
      case CHUNK: {
        long part = end - from < connection->left ? end - from : connection->left;
        from += part, connection->left -= part;
        if (connection->left) return 0;
        if (connection->stage == LENGTH) return 1;
        connection->stage = CHUNK_SIZE;
      }
    }
  }
}

static void load(long total, int connection_count) {
  static char buffer[BUFFER];
  struct connection *connections = calloc(connection_count, sizeof *connections);
  struct pollfd *polled = calloc(connection_count, sizeof *polled);
  int open = 0;
  for (int i = 0; i < connection_count && asked < total; i++) {
    connections[i].socket = polled[i].fd = connected();
    polled[i].events = POLLIN;
    ask(&connections[open++]);
  }
  double start = now();
  while (answered < total) {
    if (poll(polled, open, 60000) <= 0) fail("answer", "none within a minute");
    for (int i = 0; i < open; i++) {
      if (!polled[i].revents) continue;
      struct connection *connection = &connections[i];
      ssize_t count = read(connection->socket, buffer, BUFFER);
      if (count <= 0) fail("answer", "the connection was closed");
      if (!connection->first) connection->first = now();
      bytes += count;
      if (!take(connection, buffer, count)) continue;
      done(connection);
      if (asked < total)
        ask(connection);
      else
        polled[i].fd = -1;
    }
  }
  double seconds = now() - start;
  qsort(first_bytes.values, answered, sizeof(double), compare_doubles);
  qsort(last_bytes.values, answered, sizeof(double), compare_doubles);
  printf(
      "{\"seconds\":%.6f,\"count\":%ld,\"bytes\":%ld,\"first\":%.9f,\"last\":%.9f}\n", seconds,
      answered, bytes, first_bytes.values[answered / 2] / 1e6,
      last_bytes.values[answered / 2] / 1e6);
}

// Every event has one line that begins with "data:".
static void events(const char *path, int clients, int rate, int seconds) {
  static char buffer[BUFFER];
  char request[2048];
  struct pollfd *polled = calloc(clients + 1, sizeof *polled);
  for (int i = 0; i <= clients; i++) polled[i] = (struct pollfd){connected(), POLLIN, 0};
  snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", path, port);
  for (int i = 0; i < clients; i++) send_all(polled[i].fd, request);
  double start = now() + 2, end = start + seconds;
  long posted = 0;
  while (now() < end + 1) {
    if (now() >= start + posted / (double)rate && posted < (long)rate * seconds) {
      send_all(polled[clients].fd, requests[posted++ % request_count]);
    }
    if (poll(polled, clients + 1, 2) <= 0) continue;
    for (int i = 0; i <= clients; i++) {
      if (!polled[i].revents) continue;
      ssize_t count = read(polled[i].fd, buffer, BUFFER - 1);
      if (count <= 0) fail("events", "the connection was closed");
      bytes += count;
      buffer[count] = 0;
      for (char *at = buffer; i < clients && (at = strstr(at, "\ndata:")); at++) hits++;
    }
  }
  printf(
      "{\"seconds\":%d,\"count\":%ld,\"delivered\":%ld,\"bytes\":%ld}\n", seconds, posted, hits,
      bytes);
}

int main(int count, char **arguments) {
  if (count == 8 && !strcmp(arguments[1], "events")) {
    port = atoi(arguments[2]);
    read_requests(arguments[5]);
    events(arguments[3], atoi(arguments[4]), atoi(arguments[6]), atoi(arguments[7]));
    return 0;
  }
  if (count != 5) fail("usage", "see the head of load.c");
  port = atoi(arguments[1]);
  read_requests(arguments[2]);
  load(atol(arguments[3]), atoi(arguments[4]));
  return 0;
}
