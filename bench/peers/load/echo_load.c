// echo_load.c: the client that the echo servers of `make bench` are measured with, the same one for all of them.
//
//   echo_load HOST PORT CONNECTIONS SECONDS BYTES
//
// Each connection has one request in flight: when the whole reply is there and right, the next one goes out. A request is filled with
// numbers that follow from its connection, its sequence number and the place in it, so a byte that is lost, doubled, changed, or comes
// from another connection or an earlier request cannot pass. Prints one line of JSON:
//   requests, seconds, per_second, p50_us, p99_us   of what was answered in the time that counts
//   total                                           all that were answered, with those before and after that time
//   errors                                          connections that were lost or answered wrongly; each is named on stderr
// The first tenth of SECONDS does not count, so that connections are accepted and caches are warm. When the time is over, what is in
// flight is waited for, and a reply that does not come is an error. HOST is a numeric address.
//
// Exit code: 0, or 1 with any error, or 2 when the load could not be put on at all.
//
// Two threads at most, each with half of the connections, an epoll and nothing shared. Level-triggered, since each round of a
// connection has its one reply anyhow.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "histogram.h"

enum {
  kEvents = 256,
  kThreads = 2,
  kSmallest = 16,
  kLargest = 1 << 20,
  kDrainMs = 5000,
  kTickMs = 100
};

struct connection {
  int fd;  // -1 when it was given up
  uint32_t id;
  uint64_t sequence;
  uint64_t sent_at_ns;
  size_t nsent, nreceived;  // of the request in flight; both are `bytes` when there is none
  int waits_for_room;       // epoll is asked for EPOLLOUT
  uint64_t* request;        // `bytes` of it, rounded up
};

struct worker {
  pthread_t thread;
  int epoll;
  struct connection* connections;
  size_t nconnections;
  size_t nin_flight;
  char* buffer;
  uint64_t begin_ns, end_ns;  // the time that counts
  uint64_t requests, total, errors;
  struct histogram times;
};

static size_t bytes;  // of one request
static pthread_barrier_t all_are_connected;
static uint64_t length_ns;

static uint64_t now_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void die(const char* what) {
  fprintf(stderr, "echo_load: %s: %s\n", what, strerror(errno));
  exit(2);
}

static void* need(void* memory) {
  if (!memory) die("memory");
  return memory;
}

__attribute__((format(printf, 3, 4))) static void give_up(struct worker* w, struct connection* c,
                                                          const char* format, ...) {
  char why[128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  fprintf(stderr, "echo_load: connection %u, request %llu: %s\n", c->id,
          (unsigned long long)c->sequence, why);
  ++w->errors;
  if (c->nreceived < bytes) --w->nin_flight;
  close(c->fd);
  c->fd = -1;
}

// The first word is the tag itself, the others follow from it by a multiplication that carries each bit of it upwards.
static void fill(struct connection* c) {
  const uint64_t tag = (uint64_t)c->id << 40 ^ c->sequence;
  const size_t nwords = (bytes + sizeof tag - 1) / sizeof tag;
  c->request[0] = tag;
  for (size_t i = 1; i < nwords; ++i) c->request[i] = (tag + i) * UINT64_C(0x9e3779b97f4a7c15);
}

static void ask_for(struct worker* w, struct connection* c, int room) {
  if (c->waits_for_room == room) return;
  c->waits_for_room = room;
  struct epoll_event event = {.events = room ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};
  if (epoll_ctl(w->epoll, EPOLL_CTL_MOD, c->fd, &event) != 0) die("epoll_ctl");
}

static void send_rest(struct worker* w, struct connection* c) {
  while (c->nsent < bytes) {
    const ssize_t n =
        send(c->fd, (const char*)c->request + c->nsent, bytes - c->nsent, MSG_NOSIGNAL);
    if (n >= 0) {
      c->nsent += (size_t)n;
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      give_up(w, c, "send: %s", strerror(errno));
      return;
    }
  }
  ask_for(w, c, c->nsent < bytes);
}

static void begin_request(struct worker* w, struct connection* c, uint64_t now) {
  ++c->sequence;
  fill(c);
  c->nsent = c->nreceived = 0;
  c->sent_at_ns = now;
  ++w->nin_flight;
  send_rest(w, c);
}

// True when the n bytes in the buffer are what comes next.
static int is_right(struct worker* w, struct connection* c, size_t n) {
  if (n > c->nsent - c->nreceived) {
    give_up(w, c, "%zu bytes more than were sent", n - (c->nsent - c->nreceived));
    return 0;
  }
  const char* wanted = (const char*)c->request + c->nreceived;
  if (memcmp(w->buffer, wanted, n) == 0) return 1;
  size_t at = 0;
  while (w->buffer[at] == wanted[at]) ++at;
  give_up(w, c, "byte %zu is %02x and not %02x", c->nreceived + at, w->buffer[at] & 0xff,
          wanted[at] & 0xff);
  return 0;
}

static void count_reply(struct worker* w, const struct connection* c, uint64_t now) {
  ++w->total;
  --w->nin_flight;
  if (now < w->begin_ns || now >= w->end_ns) return;
  ++w->requests;
  add_time(&w->times, now - c->sent_at_ns);
}

// Takes what has come. Returns the time when that was the end of a reply, else 0. When nothing is in flight (the time is over, others
// are waited for), whatever comes is wrong.
static uint64_t receive(struct worker* w, struct connection* c) {
  // One byte more than a reply can have, so that a surplus is seen at once.
  const ssize_t n = recv(c->fd, w->buffer, bytes + 1, 0);
  if (n < 0) {
    if (errno != EAGAIN && errno != EINTR) give_up(w, c, "recv: %s", strerror(errno));
    return 0;
  }
  if (n == 0) {
    give_up(w, c, "the server ended it after %zu of %zu bytes", c->nreceived, bytes);
    return 0;
  }
  if (!is_right(w, c, (size_t)n)) return 0;
  c->nreceived += (size_t)n;
  if (c->nreceived < bytes) return 0;
  const uint64_t now = now_ns();
  count_reply(w, c, now);
  return now;
}

static void handle(struct worker* w, const struct epoll_event* event) {
  struct connection* c = event->data.ptr;
  if (event->events & EPOLLOUT) send_rest(w, c);
  if (c->fd < 0 || !(event->events & ~(uint32_t)EPOLLOUT)) return;
  const uint64_t now = receive(w, c);
  if (now != 0 && now < w->end_ns) begin_request(w, c, now);
}

static void give_up_late_ones(struct worker* w) {
  for (size_t i = 0; i < w->nconnections; ++i) {
    struct connection* c = &w->connections[i];
    if (c->fd >= 0 && c->nreceived < bytes) {
      give_up(w, c, "no reply within %d s of the end", kDrainMs / 1000);
    }
  }
}

static void* work(void* argument) {
  struct worker* w = argument;
  pthread_barrier_wait(&all_are_connected);
  const uint64_t start = now_ns();
  w->begin_ns = start + length_ns / 10;
  w->end_ns = start + length_ns;
  for (size_t i = 0; i < w->nconnections; ++i) begin_request(w, &w->connections[i], now_ns());
  struct epoll_event events[kEvents];
  while (w->nin_flight > 0) {
    const int n = epoll_wait(w->epoll, events, kEvents, kTickMs);
    if (n < 0 && errno != EINTR) die("epoll_wait");
    for (int i = 0; i < n; ++i) handle(w, &events[i]);
    if (now_ns() > w->end_ns + kDrainMs * UINT64_C(1000000)) give_up_late_ones(w);
  }
  return NULL;
}

static int connect_to(const struct addrinfo* address) {
  const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket");
  if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) die("connect");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) die("fcntl");
  return fd;
}

static void prepare(struct worker* w, const struct addrinfo* address, uint32_t first_id, size_t n) {
  w->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (w->epoll < 0) die("epoll_create1");
  w->buffer = need(malloc(bytes + 1));
  w->connections = need(calloc(n, sizeof *w->connections));
  w->nconnections = n;
  for (size_t i = 0; i < n; ++i) {
    struct connection* c = &w->connections[i];
    c->fd = connect_to(address);
    c->id = first_id + (uint32_t)i;
    c->nsent = c->nreceived = bytes;
    c->request = need(malloc((bytes + 7) / 8 * 8));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, c->fd, &event) != 0) die("epoll_ctl");
  }
}

static int print(struct worker* workers, size_t nworkers) {
  struct worker* sum = &workers[0];
  for (size_t i = 1; i < nworkers; ++i) {
    sum->requests += workers[i].requests;
    sum->total += workers[i].total;
    sum->errors += workers[i].errors;
    merge(&sum->times, &workers[i].times);
  }
  const double seconds = (double)(sum->end_ns - sum->begin_ns) / 1e9;
  printf(
      "{\"requests\":%llu,\"seconds\":%.6f,\"per_second\":%.1f,\"p50_us\":%.2f,\"p99_us\":%.2f,"
      "\"total\":%llu,\"errors\":%llu}\n",
      (unsigned long long)sum->requests, seconds, (double)sum->requests / seconds,
      percentile_ns(&sum->times, 0.5) / 1e3, percentile_ns(&sum->times, 0.99) / 1e3,
      (unsigned long long)sum->total, (unsigned long long)sum->errors);
  return sum->errors == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  const long nconnections = argc == 6 ? strtol(argv[3], NULL, 10) : 0;
  const double seconds = argc == 6 ? strtod(argv[4], NULL) : 0;
  const long size = argc == 6 ? strtol(argv[5], NULL, 10) : 0;
  if (nconnections < 1 || nconnections > 1000000 || !(seconds > 0 && seconds < 1e6) ||
      size < kSmallest || size > kLargest) {
    fprintf(stderr, "usage: echo_load HOST PORT CONNECTIONS SECONDS BYTES (%d to %d of them)\n",
            kSmallest, kLargest);
    return 2;
  }
  bytes = (size_t)size;
  length_ns = (uint64_t)(seconds * 1e9);
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
  struct addrinfo* address = NULL;
  const int wrong = getaddrinfo(argv[1], argv[2], &hints, &address);
  if (wrong != 0) {
    fprintf(stderr, "echo_load: %s port %s: %s\n", argv[1], argv[2], gai_strerror(wrong));
    return 2;
  }
  static struct worker workers[kThreads];
  const size_t n = (size_t)nconnections;
  const size_t nworkers = n < kThreads ? n : kThreads;
  errno = pthread_barrier_init(&all_are_connected, NULL, (unsigned)nworkers);
  if (errno != 0) die("pthread_barrier_init");
  for (size_t i = 0; i < nworkers; ++i) {
    const size_t first = n * i / nworkers;
    prepare(&workers[i], address, (uint32_t)first, n * (i + 1) / nworkers - first);
  }
  for (size_t i = 0; i < nworkers; ++i) {
    errno = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    if (errno != 0) die("pthread_create");
  }
  for (size_t i = 0; i < nworkers; ++i) pthread_join(workers[i].thread, NULL);
  return print(workers, nworkers);
}
