#define _GNU_SOURCE
#include "foreground.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns 0 for a process that is gone or dead. */
static int read_groups(long pid, int *parent, int *group) {
  char path[64], text[512], state;
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  if (count <= 0) return 0;
  text[count] = 0;
  /* The name in parentheses may hold anything, also parentheses. */
  const char *rest = strrchr(text, ')');
  return rest && sscanf(rest + 1, " %c %d %d", &state, parent, group) == 3 && state != 'Z' && state != 'X';
}

static void read_program(long pid, char *name, size_t size) {
  char path[64], target[1024];
  snprintf(path, sizeof path, "/proc/%ld/exe", pid);
  const ssize_t count = readlink(path, target, sizeof target - 1);
  target[count > 0 ? count : 0] = 0;
  const char *slash = strrchr(target, '/');
  const char *program = count > 0 ? (slash ? slash + 1 : target) : "?";
  const size_t length = strnlen(program, size - 1);
  memcpy(name, program, length);
  name[length] = 0;
  char *deleted = strstr(name, " (deleted)");
  if (deleted) *deleted = 0;
  /* What separates the fields of a reply. */
  for (char *byte = name; *byte; byte++)
    if (*byte <= ' ' || *byte > '~' || *byte == ':') *byte = '_';
}

size_t foreground_describe(int terminal, char *target, size_t size) {
  size_t length = 0;
  pid_t foreground = 0;
  target[0] = 0;
  if (ioctl(terminal, TIOCGPGRP, &foreground) < 0 || foreground <= 0) return 0;
  DIR *processes = opendir("/proc");
  if (!processes) return 0;
  for (struct dirent *entry; (entry = readdir(processes));) {
    char *end, name[64];
    int parent, group;
    const long pid = strtol(entry->d_name, &end, 10);
    if (*end || pid <= 0 || !read_groups(pid, &parent, &group) || group != foreground) continue;
    read_program(pid, name, sizeof name);
    const int written = snprintf(target + length, size - length, " %ld:%d:%s", pid, parent, name);
    if (written < 0 || (size_t)written >= size - length) {
      target[length] = 0;
      break;
    }
    length += (size_t)written;
  }
  closedir(processes);
  return length;
}
