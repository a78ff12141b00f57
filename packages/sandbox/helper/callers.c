#define _GNU_SOURCE
#include "callers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
/* For a pidfd of one thread, with its own table of descriptors. Kernels before 6.9 do not have it. */
static const unsigned pidfd_thread = O_EXCL;

static const char *find_field(const char *text, const char *name) {
  const char *field = strstr(text, name);
  return field ? field + strlen(name) : NULL;
}

/* The number in the innermost namespace is the last one of its line. */
static pid_t last_number(const char *field) {
  long number = 0;
  for (char *end; *field != '\n' && *field != 0; field = end) {
    number = strtol(field, &end, 10);
    if (end == field) break;
    while (*end == '\t' || *end == ' ') end++;
  }
  return (pid_t)number;
}

int caller_identify(pid_t thread, struct identity *identity) {
  char path[64], text[8192];
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  const ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  if (count <= 0) return -ESRCH;
  text[count] = 0;
  const char *leader = find_field(text, "\nTgid:"), *users = find_field(text, "\nUid:"), *all = find_field(text, "\nGid:");
  const char *groups = find_field(text, "\nGroups:");
  const char *process = find_field(text, "\nNStgid:"), *own = find_field(text, "\nNSpid:");
  if (!leader || !users || !all || !groups || !process || !own) return -ENOSYS;
  unsigned real, effective;
  if (sscanf(users, "%u %u", &real, &effective) != 2) return -ENOSYS;
  identity->user = effective;
  if (sscanf(all, "%u %u", &real, &effective) != 2) return -ENOSYS;
  identity->group = effective;
  identity->leader = (pid_t)strtol(leader, NULL, 10);
  identity->process = last_number(process);
  identity->thread = last_number(own);
  identity->group_count = 0;
  for (char *end; identity->group_count < max_groups; groups = end) {
    while (*groups == ' ' || *groups == '\t') groups++;
    const unsigned long group = strtoul(groups, &end, 10);
    if (end == groups || *groups == '\n') break;
    identity->groups[identity->group_count++] = (gid_t)group;
  }
  return 0;
}

static int open_process(pid_t thread) {
  int fd = (int)syscall(SYS_pidfd_open, thread, pidfd_thread);
  if (fd < 0 && errno == EINVAL) fd = (int)syscall(SYS_pidfd_open, thread, 0);
  if (fd >= 0) return fd;
  struct identity identity;
  const int error = caller_identify(thread, &identity);
  if (error) return error;
  fd = (int)syscall(SYS_pidfd_open, identity.leader, 0);
  return fd < 0 ? -errno : fd;
}

int caller_take_descriptor(pid_t thread, int fd) {
  const int process = open_process(thread);
  if (process < 0) return process;
  const int taken = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
  const int error = errno;
  close(process);
  return taken < 0 ? -error : taken;
}

int caller_read_memory(pid_t thread, unsigned long address, void *target, size_t size) {
  const struct iovec local = {target, size}, remote = {(void *)address, size};
  const ssize_t count = process_vm_readv(thread, &local, 1, &remote, 1, 0);
  return count == (ssize_t)size ? 0 : -EFAULT;
}

int caller_open_directory(pid_t thread, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", thread, name);
  const int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}
