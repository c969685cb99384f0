// epoll_echo.c: an echo server as one writes it in plain C for speed: what weft's goroutines are measured against.
//
//   epoll_echo PORT NTHREADS      prints `ready <port>` when it listens on 127.0.0.1; PORT 0: any free one; ends on SIGTERM
//
// The main thread accepts and deals the connections out by turns, so each worker has as many as the next one. (With SO_REUSEPORT the
// kernel deals by a hash: of 100 connections one of two workers may well get 60.) From then on it sleeps. A connection belongs to
// one worker for good, so nothing is shared and nothing is locked.
//
// Edge-triggered. A read that does not fill the buffer has emptied the socket, so a small request costs one recv, one send, and a
// part of one epoll_wait. That the peer has ended is part of the event (EPOLLRDHUP), or an event of its own when it comes later: only
// then is it read for. (Level-triggered, no difference could be told.) What the socket does not take is kept, and until it has gone out nothing more is read.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kEvents = 256, kBuffer = 64 * 1024, kBacklog = 4096 };

struct connection {
  int fd;
  char* unsent;  // what the socket did not take; null most of the time
  size_t begin, end;
};

static void die(const char* what) {
  perror(what);
  exit(2);
}

static void end_connection(struct connection* c) {
  close(c->fd);  // epoll forgets it by itself
  free(c->unsent);
  free(c);
}

static void keep(struct connection* c, const char* bytes, size_t n) {
  c->unsent = malloc(n);
  if (!c->unsent) die("epoll_echo: malloc");
  memcpy(c->unsent, bytes, n);
  c->begin = 0;
  c->end = n;
}

// What was sent of n bytes before the socket was full; -1: the connection is broken.
static ssize_t send_some(int fd, const char* bytes, size_t n) {
  size_t sent = 0;
  while (sent < n) {
    const ssize_t got = send(fd, bytes + sent, n - sent, MSG_NOSIGNAL);
    if (got >= 0) {
      sent += (size_t)got;
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return (ssize_t)sent;
}

// Sends what was kept. 1: all of it; 0: the socket is full again; -1: broken.
static int flush_unsent(struct connection* c) {
  const ssize_t sent = send_some(c->fd, c->unsent + c->begin, c->end - c->begin);
  if (sent < 0) return -1;
  c->begin += (size_t)sent;
  if (c->begin < c->end) return 0;
  free(c->unsent);
  c->unsent = NULL;
  return 1;
}

// Echoes what there is. False: the connection is over.
static int serve(struct connection* c, int peer_has_ended, char* buffer) {
  // Going away with something kept loses no edge: room in the socket is the next one, and says too whether the peer has ended.
  if (c->unsent) {
    const int flushed = flush_unsent(c);
    if (flushed <= 0) return flushed == 0;
  }
  for (;;) {
    const ssize_t n = recv(c->fd, buffer, kBuffer, 0);
    if (n == 0) return 0;
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN;
    }
    const ssize_t sent = send_some(c->fd, buffer, (size_t)n);
    if (sent < 0) return 0;
    if (sent < n) {
      keep(c, buffer + sent, (size_t)(n - sent));
      return 1;
    }
    if (n < kBuffer && !peer_has_ended) return 1;
  }
}

static void* work(void* argument) {
  const int epoll = *(int*)argument;
  struct epoll_event events[kEvents];
  char* buffer = malloc(kBuffer);
  if (!buffer) die("epoll_echo: malloc");
  for (;;) {
    const int n = epoll_wait(epoll, events, kEvents, -1);
    if (n < 0 && errno != EINTR) die("epoll_echo: epoll_wait");
    for (int i = 0; i < n; ++i) {
      struct connection* c = events[i].data.ptr;
      const int has_ended = (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
      if (!serve(c, has_ended, buffer)) end_connection(c);
    }
  }
  return NULL;
}

static int listen_on(unsigned short port, unsigned short* bound) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("epoll_echo: socket");
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd, (struct sockaddr*)&address, size) != 0) die("epoll_echo: bind");
  if (listen(fd, kBacklog) != 0) die("epoll_echo: listen");
  if (getsockname(fd, (struct sockaddr*)&address, &size) != 0) die("epoll_echo: getsockname");
  *bound = ntohs(address.sin_port);
  return fd;
}

static void deal_out(int listener, const int* epolls, int nworkers) {
  for (int next = 0;; next = (next + 1) % nworkers) {
    const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      die("epoll_echo: accept4");
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection* c = calloc(1, sizeof *c);
    if (!c) die("epoll_echo: calloc");
    c->fd = fd;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (epoll_ctl(epolls[next], EPOLL_CTL_ADD, fd, &event) != 0) die("epoll_echo: epoll_ctl");
  }
}

int main(int argc, char** argv) {
  const long port = argc == 3 ? strtol(argv[1], NULL, 10) : -1;
  const int nworkers = argc == 3 ? atoi(argv[2]) : 0;
  if (port < 0 || port > 65535 || nworkers < 1 || nworkers > 1024) {
    fprintf(stderr, "usage: epoll_echo PORT NTHREADS\n");
    return 2;
  }
  unsigned short bound = 0;
  const int listener = listen_on((unsigned short)port, &bound);
  int* epolls = calloc((size_t)nworkers, sizeof *epolls);
  if (!epolls) die("epoll_echo: calloc");
  for (int i = 0; i < nworkers; ++i) {
    epolls[i] = epoll_create1(EPOLL_CLOEXEC);
    if (epolls[i] < 0) die("epoll_echo: epoll_create1");
    pthread_t thread;
    errno = pthread_create(&thread, NULL, work, &epolls[i]);
    if (errno != 0) die("epoll_echo: pthread_create");
  }
  printf("ready %hu\n", bound);
  fflush(stdout);
  deal_out(listener, epolls, nworkers);
}
