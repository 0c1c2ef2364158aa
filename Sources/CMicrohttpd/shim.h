#pragma once
#include <arpa/inet.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>

// Macros with casts, and constants of enumerations that Swift does not see.
static const uint64_t fieldpack_mhd_unknown_size = MHD_SIZE_UNKNOWN;
static const ssize_t fieldpack_mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t fieldpack_mhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

static const enum MHD_Result fieldpack_mhd_yes = MHD_YES;
static const enum MHD_Result fieldpack_mhd_no = MHD_NO;
static const enum MHD_ValueKind fieldpack_mhd_header = MHD_HEADER_KIND;
static const enum MHD_ConnectionNotificationCode fieldpack_mhd_started =
    MHD_CONNECTION_NOTIFY_STARTED;
static const enum MHD_ResponseMemoryMode fieldpack_mhd_copy = MHD_RESPMEM_MUST_COPY;

// Gives an upgraded connection back; the function is variadic, which Swift cannot call.
static inline void fieldpack_mhd_end_upgrade(struct MHD_UpgradeResponseHandle *handle) {
  MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

// What a daemon is started with.
struct fieldpack_mhd_settings {
  int socket;
  unsigned int threads;
  unsigned int connections;
  unsigned int timeout_seconds;
  size_t memory_per_connection;
  // 0 for no limit.
  unsigned int connections_per_address;
  // Both in PEM; NULL for HTTP without TLS.
  const char *certificate;
  const char *key;
  void *context;
  MHD_AccessHandlerCallback handle;
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback notify;
  void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
};

// Paths and queries are taken apart from the raw target, so that an escaped slash stays one.
static inline size_t fieldpack_mhd_keep_escapes(
    void *context, struct MHD_Connection *connection, char *text) {
  (void)context, (void)connection;
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

// The options are variadic, which Swift cannot call.
static inline struct MHD_Daemon *fieldpack_mhd_start(const struct fieldpack_mhd_settings *settings) {
  unsigned int flags =
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE;
  struct MHD_OptionItem more[5];
  int count = 0;
  if (settings->connections_per_address)
    more[count++] = (struct MHD_OptionItem){
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)settings->connections_per_address, NULL};
  if (settings->certificate) {
    flags |= MHD_USE_TLS;
    more[count++] = (struct MHD_OptionItem){
        MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)settings->certificate};
    more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)settings->key};
    // TLS 1.2 and 1.3.
    more[count++] = (struct MHD_OptionItem){
        MHD_OPTION_HTTPS_PRIORITIES, 0, "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
  }
  more[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
  return MHD_start_daemon(
      flags, 0, NULL,
      NULL, settings->handle, settings->context,  //
      MHD_OPTION_LISTEN_SOCKET, settings->socket,  //
      MHD_OPTION_THREAD_POOL_SIZE, settings->threads,  //
      MHD_OPTION_CONNECTION_LIMIT, settings->connections,  //
      MHD_OPTION_CONNECTION_TIMEOUT, settings->timeout_seconds,  //
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->memory_per_connection,  //
      MHD_OPTION_STRICT_FOR_CLIENT, 1,  //
      MHD_OPTION_UNESCAPE_CALLBACK, fieldpack_mhd_keep_escapes, NULL,  //
      MHD_OPTION_URI_LOG_CALLBACK, settings->begin, settings->context,  //
      MHD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,  //
      MHD_OPTION_NOTIFY_CONNECTION, settings->notify, settings->context,  //
      MHD_OPTION_ARRAY, more,  //
      MHD_OPTION_END);
}

// The connection's socket; -1 where it is not known. The function is variadic.
static inline int fieldpack_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? (int)info->connect_fd : -1;
}

// Whether the other side has closed a connection.
static inline int fieldpack_mhd_is_closed(int socket) {
#ifdef __linux__
  const short end = 0x2000; // POLLRDHUP, which needs _GNU_SOURCE
#else
  const short end = 0;
#endif
  struct pollfd watched = {socket, end, 0};
  return poll(&watched, 1, 0) > 0 && (watched.revents & (end | POLLHUP | POLLERR)) != 0;
}

// Writes the client's address in digits; an empty text where it is not known.
static inline void fieldpack_mhd_address(
    struct MHD_Connection *connection, char *text, unsigned int size) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  text[0] = 0;
  if (!info || !info->client_addr) return;
  const void *bytes = info->client_addr->sa_family == AF_INET
      ? (const void *)&((const struct sockaddr_in *)info->client_addr)->sin_addr
      : (const void *)&((const struct sockaddr_in6 *)info->client_addr)->sin6_addr;
  if (!inet_ntop(info->client_addr->sa_family, bytes, text, size)) text[0] = 0;
}
