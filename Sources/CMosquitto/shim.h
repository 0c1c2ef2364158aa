#pragma once
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdint.h>
#include <string.h>

#ifdef __linux__
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#endif

// How many bytes a connection has received so far; 0 where the system does not tell.
static inline uint64_t fieldpack_received_bytes(int socket) {
  uint64_t received = 0;
#ifdef __linux__
  // glibc's struct ends before the field, and that of linux/tcp.h has the same name: Linux puts
  // tcpi_bytes_received at this place since 4.1.
  unsigned char info[136];
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &size) == 0 && size == sizeof info)
    memcpy(&received, info + 128, sizeof received);
#endif
  return received;
}
