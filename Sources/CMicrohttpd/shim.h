#pragma once
#include <microhttpd.h>
#include <stdio.h>

// Macros with casts, and constants of enumerations that Swift does not see.
static const uint64_t fieldpack_mhd_unknown_size = MHD_SIZE_UNKNOWN;
static const ssize_t fieldpack_mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t fieldpack_mhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

static const enum MHD_Result fieldpack_mhd_yes = MHD_YES;
static const enum MHD_Result fieldpack_mhd_no = MHD_NO;
static const enum MHD_ValueKind fieldpack_mhd_header = MHD_HEADER_KIND;
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
  void *context;
  MHD_AccessHandlerCallback handle;
  MHD_RequestCompletedCallback completed;
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
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE, 0, NULL,
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
      MHD_OPTION_END);
}
