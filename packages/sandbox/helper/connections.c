#define _GNU_SOURCE
#include "connections.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "callers.h"
#include "paths.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* Ends the system call in which one of our threads waits. */
#define give_up_signal SIGUSR2

enum { max_calls = 256, max_directories = 64, thread_stack = 256 * 1024 };

/* One `connect` that somebody waits for. */
struct call {
  uint64_t id;
  pid_t caller;
  int fd;
  unsigned long address;
  uint64_t size;
  pthread_t thread;
  int is_used;
};

static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static struct call calls[max_calls];
/* Written by one thread and never changed. No lock: a process that is made while another thread holds it would wait for ever. */
static char *directories[max_directories];
static atomic_int directory_count;
static int listener = -1;
static sem_t is_listening;

void connections_allow(const char *directory) {
  const int count = directory_count;
  if (count == max_directories) return;
  directories[count] = strdup(directory);
  if (directories[count]) directory_count = count + 1;
}

static int is_below_allowed(const char *path) {
  for (int index = 0; index < directory_count; index++) {
    const size_t length = strlen(directories[index]);
    if (strncmp(path, directories[index], length) == 0 && path[length] == '/') return 1;
  }
  return 0;
}

/* The address of an open file, whatever its name is by now. */
static socklen_t name_descriptor(struct sockaddr_un *address, int fd) {
  address->sun_family = AF_UNIX;
  const int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d", fd);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length + 1);
}

/* What is mounted read-only belongs to programs outside also where it is below an allowed directory. */
static int is_allowed(int fd) {
  struct sockaddr_un name;
  name_descriptor(&name, fd);
  char path[PATH_MAX];
  const ssize_t length = readlink(name.sun_path, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  struct statvfs mount;
  return is_below_allowed(path) && fstatvfs(fd, &mount) == 0 && (mount.f_flag & ST_RDONLY) == 0;
}

/* Returns 0 or an error number, like the following ones. */
static int connect_to_path(int fd, const struct viewpoint *viewpoint, const char *path) {
  const int target = path_open(viewpoint, path);
  if (target < 0) return -target;
  struct stat status;
  int error = ECONNREFUSED;
  if (fstat(target, &status) == 0 && S_ISSOCK(status.st_mode)) {
    struct sockaddr_un name;
    const socklen_t size = name_descriptor(&name, target);
    if (!is_allowed(target)) error = EACCES;
    else error = connect(fd, (const struct sockaddr *)&name, size) < 0 ? errno : 0;
  }
  close(target);
  return error;
}

static void answer(uint64_t id, int error) {
  struct seccomp_notif_resp response = {.id = id, .error = -error};
  /* A caller that has been ended does not need it any more. */
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static int is_waiting(uint64_t id) { return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

/*
 * The server is to see the user of the caller, and the caller's rights apply to the path. A process of its own, because a
 * thread with another user would make the memory of all threads unreadable for the harness. Only system calls here: other
 * threads may have held locks when it was made.
 */
static int connect_as(const struct identity *identity, int fd, const struct viewpoint *viewpoint, const char *path,
                      uint64_t id) {
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
  if (child != 0) return child < 0 ? errno : 0;
  if (syscall(SYS_setgroups, identity->group_count, identity->groups) < 0 ||
      syscall(SYS_setresgid, identity->group, identity->group, identity->group) < 0 ||
      syscall(SYS_setresuid, identity->user, identity->user, identity->user) < 0)
    answer(id, errno);
  else answer(id, connect_to_path(fd, viewpoint, path));
  _exit(0);
}

/* Answers itself if the user of the caller is another one. */
static int connect_to_file(const struct call *call, int fd, const char *path, int *is_answered) {
  struct identity identity;
  const int unknown = caller_identify(call->caller, &identity);
  if (unknown) return -unknown;
  struct viewpoint viewpoint = {.process = identity.process, .thread = identity.thread};
  viewpoint.root = caller_open_directory(call->caller, "root");
  viewpoint.cwd = caller_open_directory(call->caller, "cwd");
  int error = EACCES;
  /* The number may have become that of another process, unless the caller still waits. */
  if (viewpoint.root < 0) error = -viewpoint.root;
  else if (viewpoint.cwd < 0) error = -viewpoint.cwd;
  else if (is_waiting(call->id)) {
    if (identity.user == geteuid() && identity.group == getegid()) error = connect_to_path(fd, &viewpoint, path);
    else {
      error = connect_as(&identity, fd, &viewpoint, path, call->id);
      *is_answered = error == 0;
    }
  }
  if (viewpoint.root >= 0) close(viewpoint.root);
  if (viewpoint.cwd >= 0) close(viewpoint.cwd);
  return error;
}

static int connect_for(const struct call *call, int fd, int *is_answered) {
  union {
    struct sockaddr any;
    struct sockaddr_un unix_path;
    struct sockaddr_storage largest;
    char bytes[sizeof(struct sockaddr_storage) + 1];
  } address;
  memset(&address, 0, sizeof address);
  int family;
  socklen_t length = sizeof family;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length) < 0) return errno;
  const int size = (int)call->size;
  if (size < 0 || (size_t)size > sizeof address.largest) return EINVAL;
  if (size > 0 && caller_read_memory(call->caller, call->address, &address, (size_t)size) < 0) return EFAULT;
  if (!is_waiting(call->id)) return EINTR;
  const size_t path_start = offsetof(struct sockaddr_un, sun_path);
  const int has_path = family == AF_UNIX && (size_t)size > path_start && address.any.sa_family == AF_UNIX &&
                       address.unix_path.sun_path[0] != 0;
  if (!has_path) return connect(fd, &address.any, (socklen_t)size) < 0 ? errno : 0;
  if ((size_t)size > sizeof address.unix_path) return EINVAL;
  /* A path need not end with a zero byte; there is one behind it. */
  return connect_to_file(call, fd, address.bytes + path_start, is_answered);
}

static void *serve(void *argument) {
  struct call *call = argument;
  int is_answered = 0;
  const int fd = caller_take_descriptor(call->caller, call->fd);
  const int error = fd < 0 ? -fd : connect_for(call, fd, &is_answered);
  if (!is_answered) answer(call->id, error);
  if (fd >= 0) close(fd);
  pthread_mutex_lock(&calls_lock);
  call->is_used = 0;
  pthread_mutex_unlock(&calls_lock);
  return NULL;
}

static struct call *find_free(void) {
  for (int index = 0; index < max_calls; index++)
    if (!calls[index].is_used) return &calls[index];
  return NULL;
}

static void start_serving(const struct seccomp_notif *notification, const pthread_attr_t *attributes) {
  pthread_mutex_lock(&calls_lock);
  struct call *call = find_free();
  if (call) {
    *call = (struct call){.id = notification->id,
                          .caller = (pid_t)notification->pid,
                          .fd = (int)notification->data.args[0],
                          .address = (unsigned long)notification->data.args[1],
                          .size = notification->data.args[2],
                          .is_used = 1};
    if (pthread_create(&call->thread, attributes, serve, call) != 0) {
      call->is_used = 0;
      call = NULL;
    }
  }
  pthread_mutex_unlock(&calls_lock);
  if (!call) answer(notification->id, EAGAIN);
}

/* A connection may wait for its server, so each has a thread of its own. */
static void *receive(void *unused) {
  (void)unused;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, thread_stack);
  union {
    struct seccomp_notif notification;
    char bytes[512]; /* later kernels may tell more */
  } received;
  while (sem_wait(&is_listening) < 0) continue;
  for (;;) {
    memset(&received, 0, sizeof received);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &received) == 0) start_serving(&received.notification, &attributes);
    /* The caller may have been ended meanwhile. Anything else is a bug, and then nobody may connect any more. */
    else if (errno != ENOENT && errno != EINTR) _exit(72);
  }
}

static int install_filter(void) {
  const struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof steps / sizeof *steps, (struct sock_filter *)steps};
  /* A signal that comes when we have the call must not make the caller ask again: it may be connected by then. */
  const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
  if (fd < 0 && errno == EINVAL) fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  return fd < 0 ? -errno : fd;
}

static void do_nothing(int number) { (void)number; }

int connections_guard(void) {
  const struct sigaction ending = {.sa_handler = do_nothing};
  sigaction(give_up_signal, &ending, NULL);
  sigset_t others, before;
  sigfillset(&others);
  sigdelset(&others, give_up_signal);
  sem_init(&is_listening, 0, 0);
  pthread_t thread;
  pthread_sigmask(SIG_SETMASK, &others, &before);
  const int error = pthread_create(&thread, NULL, receive, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) return error;
  /* The thread is there before the filter, and so does not wait for itself. */
  listener = install_filter();
  if (listener < 0) return -listener;
  sem_post(&is_listening);
  return 0;
}

int connections_try(void) {
  const int fd = install_filter();
  if (fd < 0) return -fd;
  const int taken = caller_take_descriptor(getpid(), fd);
  if (taken < 0) return -taken;
  int copy;
  return -caller_read_memory(getpid(), (unsigned long)&fd, &copy, sizeof copy);
}

void connections_forget(void) {
  pthread_mutex_lock(&calls_lock);
  for (int index = 0; index < max_calls; index++)
    if (calls[index].is_used && !is_waiting(calls[index].id)) pthread_kill(calls[index].thread, give_up_signal);
  pthread_mutex_unlock(&calls_lock);
}
