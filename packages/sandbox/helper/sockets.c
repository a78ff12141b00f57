#define _GNU_SOURCE
#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const int max_waiting = 128;

/* Answers with a descriptor, or with an error number below zero. */
static int listen_at(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  /* A port that a command has just left, or that was opened before, can be opened again. */
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && listen(fd, max_waiting) == 0) return fd;
  const int error = errno;
  close(fd);
  return -error;
}

static int connect_to(const struct sockaddr *address, socklen_t size) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  int error = connect(fd, address, size) < 0 ? errno : 0;
  if (error == EINPROGRESS) {
    /* Loopback has answered by now. A server that is too busy to answer is waited for by the harness. */
    struct pollfd state = {fd, POLLOUT, 0};
    socklen_t length = sizeof error;
    error = 0;
    if (poll(&state, 1, 0) > 0) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error == 0) return fd;
  close(fd);
  return -error;
}

/* Some servers listen at only one of the two addresses of loopback. */
static int connect_to_port(uint16_t port) {
  const struct sockaddr_in old = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = connect_to((const struct sockaddr *)&old, sizeof old);
  if (fd >= 0) return fd;
  const struct sockaddr_in6 new = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
  const int other = connect_to((const struct sockaddr *)&new, sizeof new);
  return other >= 0 ? other : fd;
}

/* The text goes as a whole: the channel holds many times as much. */
static void send_text(int handles, const char *text, int fd) {
  struct iovec part = {(char *)text, strlen(text)};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof fd)];
  } control = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  }
  while (sendmsg(handles, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

void sockets_open(int handles, uint32_t id, uint32_t port, int listens) {
  const int fd = listens ? listen_at((uint16_t)port) : connect_to_port((uint16_t)port);
  char text[160];
  if (fd < 0) snprintf(text, sizeof text, "{\"id\":%u,\"error\":%d}\n", id, -fd);
  else
    snprintf(text, sizeof text, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.%s\",\"msg\":{\"id\":%u}}\n",
             listens ? "Server" : "Socket", id);
  send_text(handles, text, fd);
  if (fd >= 0) close(fd);
}

int sockets_drain(int handles) {
  char ignored[4096];
  const ssize_t count = read(handles, ignored, sizeof ignored);
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}
