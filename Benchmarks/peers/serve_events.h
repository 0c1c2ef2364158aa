// Server-sent events of the C server: a ring of events for all clients, each of which has its place in
// it. A client without anything to take is put aside until the next event.
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 1024, LONGEST_EVENT = 1024 };

struct client {
  struct MHD_Connection *connection;
  unsigned long next;
  int is_asleep;
  struct client *after, *before;
};

static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static char ring[RING][LONGEST_EVENT];
static unsigned long last_event;
static struct client all_clients = {.after = &all_clients, .before = &all_clients};

static ssize_t take_events(void *context, uint64_t position, char *to, size_t room) {
  struct client *client = context;
  size_t count = 0;
  (void)position;
  pthread_mutex_lock(&events_lock);
  if (client->next + RING <= last_event) client->next = last_event - RING + 1;
  while (client->next < last_event) {
    const char *event = ring[client->next % RING];
    size_t length = strlen(event);
    if (count + length > room) break;
    memcpy(to + count, event, length);
    count += length;
    client->next++;
  }
  if (!count) {
    client->is_asleep = 1;
    MHD_suspend_connection(client->connection);
  }
  pthread_mutex_unlock(&events_lock);
  return count;
}

static void free_client(void *context) {
  struct client *client = context;
  pthread_mutex_lock(&events_lock);
  client->after->before = client->before;
  client->before->after = client->after;
  pthread_mutex_unlock(&events_lock);
  free(client);
}

static inline struct MHD_Response *events(struct MHD_Connection *connection) {
  struct client *client = calloc(1, sizeof *client);
  if (!client) abort();
  client->connection = connection;
  pthread_mutex_lock(&events_lock);
  client->next = last_event;
  client->after = all_clients.after;
  client->before = &all_clients;
  client->after->before = client;
  all_clients.after = client;
  pthread_mutex_unlock(&events_lock);
  return MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, 4096, take_events, client, free_client);
}

static inline void publish(const char *data) {
  pthread_mutex_lock(&events_lock);
  snprintf(
      ring[last_event % RING], LONGEST_EVENT, "id: %lu\nevent: entered\ndata: %.900s\n\n", last_event,
      data);
  last_event++;
  for (struct client *client = all_clients.after; client != &all_clients; client = client->after) {
    if (!client->is_asleep) continue;
    client->is_asleep = 0;
    MHD_resume_connection(client->connection);
  }
  pthread_mutex_unlock(&events_lock);
}
