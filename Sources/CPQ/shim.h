#pragma once
#include <libpq-fe.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <netinet/in.h>

// The fields of an error; libpq has them as macros of characters.
static const int fieldpack_pq_sqlstate = PG_DIAG_SQLSTATE;
static const int fieldpack_pq_primary = PG_DIAG_MESSAGE_PRIMARY;
static const int fieldpack_pq_detail = PG_DIAG_MESSAGE_DETAIL;
static const int fieldpack_pq_column = PG_DIAG_COLUMN_NAME;

// The number of bytes that have come on a TCP socket since it was opened; -1 where nobody knows.
// Headers disagree about `struct tcp_info`; in Linux `tcpi_bytes_received` is at 128 since 4.1.
static inline long long fieldpack_pq_received(int descriptor) {
#ifdef __linux__
  unsigned char info[512];
  socklen_t length = sizeof info;
  const int tcp_info = 11;
  if (getsockopt(descriptor, IPPROTO_TCP, tcp_info, info, &length) == 0 && length >= 136) {
    long long received;
    memcpy(&received, info + 128, sizeof received);
    return received;
  }
#endif
  (void)descriptor;
  return -1;
}

// For how many milliseconds sent data may stay without an answer of the other machine.
static inline void fieldpack_pq_set_patience(int descriptor, int milliseconds) {
#ifdef __linux__
  const int tcp_user_timeout = 18;
  setsockopt(descriptor, IPPROTO_TCP, tcp_user_timeout, &milliseconds, sizeof milliseconds);
#endif
  (void)descriptor;
  (void)milliseconds;
}

// The number of bytes that can be read from a socket at once.
static inline int fieldpack_pq_waiting(int descriptor) {
  int count = 0;
  return ioctl(descriptor, FIONREAD, &count) == 0 ? count : 0;
}

// How many bytes a Unix socket takes before whoever sends has to wait.
static inline void fieldpack_pq_set_sending(int descriptor, int bytes) {
  struct sockaddr address;
  socklen_t length = sizeof address;
  if (getsockname(descriptor, &address, &length) != 0 || address.sa_family != AF_UNIX) return;
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}
