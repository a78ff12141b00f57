/*
 * Connects to a socket in the file system in many ways, for the tests of the sandbox: `connect WAY PATH [OTHER]`. It prints
 * what the server says, or the error. `serve` and its like are servers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { path_start = offsetof(struct sockaddr_un, sun_path) };

static struct sockaddr_un to_address(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path);
  return address;
}

static int open_socket(int type) {
  const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    perror("socket");
    exit(1);
  }
  return fd;
}

static void hear(int fd) {
  char text[64] = "";
  const ssize_t count = read(fd, text, sizeof text - 1);
  printf("%s\n", count > 0 ? text : "silence");
}

static int report(int result, int fd) {
  if (result == 0) hear(fd);
  else printf("error %s\n", strerrorname_np(errno));
  return 0;
}

static int connect_plainly(int fd, const char *path) {
  const struct sockaddr_un address = to_address(path);
  return connect(fd, (const struct sockaddr *)&address, sizeof address);
}

static int bind_to(int type, const char *path) {
  const struct sockaddr_un address = to_address(path);
  const int fd = open_socket(type);
  unlink(path);
  if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
    perror("bind");
    exit(1);
  }
  chmod(path, 0777);
  return fd;
}

/* Says `word` and the user of whoever connects. */
static int serve(int type, const char *path, const char *word) {
  char draft[256];
  snprintf(draft, sizeof draft, "%s.new", path);
  const int fd = bind_to(type, draft);
  signal(SIGPIPE, SIG_IGN);
  listen(fd, 64);
  /* Whoever sees it can connect. */
  rename(draft, path);
  for (;;) {
    const int client = accept(fd, NULL, NULL);
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    char text[64];
    snprintf(text, sizeof text, "%s %u %u", word, peer.uid, peer.gid);
    if (write(client, text, strlen(text)) < 0) errno = 0; /* gone already */
    close(client);
  }
}

/* Receives datagrams, and writes a file with the first one. */
static int receive(const char *path, const char *file) {
  const int fd = bind_to(SOCK_DGRAM, path);
  char text[64] = "";
  if (read(fd, text, sizeof text - 1) <= 0) return 1;
  const int out = open(file, O_WRONLY | O_CREAT, 0666);
  return write(out, text, strlen(text)) < 0;
}

static int send_datagram(const char *way, const char *path) {
  struct sockaddr_un address = to_address(path);
  int pair[2] = {-1, -1};
  if (strcmp(way, "pair") == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0) return perror("socketpair"), 1;
  const int fd = pair[0] >= 0 ? pair[0] : open_socket(strcmp(way, "raw") == 0 ? SOCK_RAW : SOCK_DGRAM);
  struct iovec part = {"OUTSIDE", 7};
  struct mmsghdr messages[1] = {
      {{.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1}, 0}};
  if (strcmp(way, "sendmsg") == 0) return sendmsg(fd, &messages[0].msg_hdr, 0) < 0;
  if (strcmp(way, "sendmmsg") == 0) return sendmmsg(fd, messages, 1, 0) < 0;
  if (strcmp(way, "send") == 0) return connect_plainly(fd, path) < 0 || send(fd, "OUTSIDE", 7, 0) < 0;
  return sendto(fd, "OUTSIDE", 7, 0, (struct sockaddr *)&address, sizeof address) < 0;
}

/* Reached by a thread or a process of ours while others connect. */
static struct {
  struct sockaddr_un address;
  const char *path, *other;
  int fd, spare[2];
} swapped;

static void *swap_address(void *unused) {
  (void)unused;
  for (;;) {
    strcpy(swapped.address.sun_path, swapped.other);
    strcpy(swapped.address.sun_path, swapped.path);
  }
}

static void *swap_descriptor(void *unused) {
  (void)unused;
  for (;;)
    for (int index = 0; index < 2; index++) dup2(swapped.spare[index], swapped.fd);
}

static void swap_link(void) {
  for (;;) {
    unlink("flip");
    if (symlink(swapped.other, "flip") == 0) rename("flip", "link");
    unlink("flip");
    if (symlink(swapped.path, "flip") == 0) rename("flip", "link");
  }
}

/* Servers outside are bound by a relative path. */
static int is_outside(int fd) {
  struct sockaddr_un peer = {0};
  socklen_t size = sizeof peer;
  return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sun_family == AF_UNIX && peer.sun_path[0] != '/' &&
         size > path_start;
}

/* Whether any of many connections reached a server outside. */
static int race(int (*attempt)(void)) {
  const int rounds = atoi(getenv("ROUNDS"));
  for (int round = 0; round < rounds; round++) {
    const int fd = attempt();
    if (is_outside(fd)) return puts("OUTSIDE"), 0;
    close(fd);
  }
  return puts("never"), 0;
}

static int attempt_address(void) {
  const int fd = open_socket(SOCK_STREAM);
  connect(fd, (struct sockaddr *)&swapped.address, sizeof swapped.address);
  return fd;
}

static int attempt_link(void) {
  const int fd = open_socket(SOCK_STREAM);
  connect_plainly(fd, "link");
  return fd;
}

static int attempt_descriptor(void) {
  swapped.spare[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  swapped.spare[1] = open_socket(SOCK_STREAM | SOCK_NONBLOCK);
  connect_plainly(swapped.fd, swapped.other);
  close(swapped.spare[0]);
  return swapped.spare[1];
}

static int race_with(const char *way, const char *path, const char *other) {
  swapped.address = to_address(path);
  swapped.path = path;
  swapped.other = other;
  pthread_t thread;
  if (strcmp(way, "link") == 0) {
    const pid_t child = fork();
    if (child == 0) swap_link();
    race(attempt_link);
    return kill(child, SIGKILL), 0;
  }
  if (strcmp(way, "address") == 0) {
    pthread_create(&thread, NULL, swap_address, NULL);
    return race(attempt_address);
  }
  swapped.fd = swapped.spare[0] = swapped.spare[1] = open_socket(SOCK_STREAM);
  pthread_create(&thread, NULL, swap_descriptor, NULL);
  return race(attempt_descriptor);
}

static void *connect_in_thread(void *path) {
  /* A table of descriptors of its own, with another socket behind the same number. */
  unshare(CLONE_FILES);
  close(swapped.fd);
  const int fd = open_socket(SOCK_STREAM);
  report(connect_plainly(fd, path), fd);
  return NULL;
}

#ifdef __x86_64__
/* By the calls of 32-bit programs. */
static int connect_by_interrupt(const char *path) {
  struct sockaddr_un *address = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  *address = to_address(path);
  const int fd = open_socket(SOCK_STREAM);
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(362), "b"(fd), "c"(address), "d"(sizeof *address) : "memory");
  errno = result < 0 ? (int)-result : 0;
  return report(result < 0 ? -1 : 0, fd);
}
#endif

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  const char *way = argv[1], *path = argv[2], *other = argc > 3 ? argv[3] : "";
  if (strcmp(way, "serve") == 0) return serve(SOCK_STREAM, path, other);
  if (strcmp(way, "serve-packets") == 0) return serve(SOCK_SEQPACKET, path, other);
  if (strcmp(way, "receive") == 0) return receive(path, other);
  if (strcmp(way, "datagram") == 0) return send_datagram(other, path);
  if (strncmp(way, "race-", 5) == 0) return race_with(way + 5, path, other);
  if (strcmp(way, "io_uring") == 0) {
    char parameters[256] = {0};
    return puts(syscall(SYS_io_uring_setup, 4, parameters) < 0 ? "refused" : "OUTSIDE"), 0;
  }
#ifdef __x86_64__
  if (strcmp(way, "interrupt") == 0) return connect_by_interrupt(path);
#endif
  const int fd = open_socket(strcmp(way, "packets") == 0 ? SOCK_SEQPACKET : SOCK_STREAM);
  if (strcmp(way, "plain") == 0 || strcmp(way, "packets") == 0) return report(connect_plainly(fd, path), fd);
  if (strcmp(way, "untraceable") == 0) {
    prctl(PR_SET_DUMPABLE, 0);
    return report(connect_plainly(fd, path), fd);
  }
  if (strcmp(way, "nonblocking") == 0) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
    const int result = connect_plainly(fd, path);
    fcntl(fd, F_SETFL, 0);
    return report(result, fd);
  }
  if (strcmp(way, "thread") == 0) {
    pthread_t thread;
    swapped.fd = fd;
    pthread_create(&thread, NULL, connect_in_thread, (void *)path);
    return pthread_join(thread, NULL);
  }
  if (strcmp(way, "unterminated") == 0) {
    struct sockaddr_un address = to_address(path);
    memset(address.sun_path + strlen(path), 'x', sizeof address.sun_path - strlen(path));
    return report(connect(fd, (struct sockaddr *)&address, (socklen_t)(path_start + strlen(path))), fd);
  }
  char name[128];
  if (strcmp(way, "beside") == 0) {
    /* Relative to the directory `other`. */
    snprintf(name, sizeof name, "/proc/self/fd/%d/%s", open(other, O_PATH | O_DIRECTORY), path);
    return report(connect_plainly(fd, name), fd);
  }
  if (strcmp(way, "descriptor") == 0) {
    snprintf(name, sizeof name, "/proc/thread-self/fd/%d", open(path, O_PATH));
    return report(connect_plainly(fd, name), fd);
  }
  if (strcmp(way, "in") == 0) return chdir(other) < 0 ? 1 : report(connect_plainly(fd, path), fd);
  if (strcmp(way, "twice") == 0) return connect_plainly(fd, path), report(connect_plainly(fd, path), fd);
  if (strcmp(way, "too-long") == 0) {
    char bytes[256] = {AF_UNIX};
    memset(bytes + 2, 'x', 200);
    return report(connect(fd, (struct sockaddr *)bytes, 200), fd);
  }
  if (strcmp(way, "longer") == 0) {
    char bytes[128] = {AF_UNIX};
    strcpy(bytes + 2, path);
    return report(connect(fd, (struct sockaddr *)bytes, sizeof bytes), fd);
  }
  if (strcmp(way, "bad-address") == 0) return report(connect(fd, (struct sockaddr *)8, 110), fd);
  if (strcmp(way, "bad-descriptor") == 0) return report(connect_plainly(99, path), fd);
  if (strcmp(way, "no-socket") == 0) return report(connect_plainly(open("/dev/null", O_RDONLY), path), fd);
  if (strcmp(way, "other-family") == 0) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    return report(connect(fd, (struct sockaddr *)&address, sizeof address), fd);
  }
  if (strcmp(way, "nothing") == 0) return report(connect(fd, (struct sockaddr *)&(struct sockaddr_un){AF_UNIX, ""}, 2), fd);
  return 64;
}
