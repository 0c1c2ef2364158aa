#pragma once
#include <curl/curl.h>

// Swift imports no variadic functions. The parentheses keep curl's type-checking macros out of the
// way, which only know options that are constants.

static inline CURLcode fieldpack_curl_set_number(CURL *handle, CURLoption option, long value) {
  return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode fieldpack_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
  return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode fieldpack_curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode fieldpack_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode fieldpack_curl_set_list(
    CURL *handle, CURLoption option, struct curl_slist *value) {
  return (curl_easy_setopt)(handle, option, value);
}

typedef size_t (*fieldpack_curl_bytes)(char *bytes, size_t size, size_t count, void *context);
typedef int (*fieldpack_curl_seek)(void *context, curl_off_t offset, int origin);
typedef int (*fieldpack_curl_progress)(
    void *context, curl_off_t downTotal, curl_off_t down, curl_off_t upTotal, curl_off_t up);

static inline CURLcode fieldpack_curl_set_bytes(
    CURL *handle, CURLoption option, fieldpack_curl_bytes value) {
  return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode fieldpack_curl_set_seek(CURL *handle, fieldpack_curl_seek value) {
  return (curl_easy_setopt)(handle, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode fieldpack_curl_set_progress(CURL *handle, fieldpack_curl_progress value) {
  return (curl_easy_setopt)(handle, CURLOPT_XFERINFOFUNCTION, value);
}

typedef int (*fieldpack_curl_connected)(
    void *context, char *peer, char *own, int peerPort, int ownPort);

static inline CURLcode fieldpack_curl_set_connected(CURL *handle, fieldpack_curl_connected value) {
  return (curl_easy_setopt)(handle, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode fieldpack_curl_info_number(CURL *handle, CURLINFO info, long *value) {
  return (curl_easy_getinfo)(handle, info, value);
}

static inline CURLMcode fieldpack_curl_multi_set_number(
    CURLM *handle, CURLMoption option, long value) {
  return (curl_multi_setopt)(handle, option, value);
}

// A union in C, which Swift would have to take apart.
static inline CURLcode fieldpack_curl_message_result(const CURLMsg *message) {
  return message->data.result;
}
