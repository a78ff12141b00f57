#define _GNU_SOURCE
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* As the kernel has it. */
static const int max_links = 40;
/* Of the directory /proc itself. */
static const ino_t proc_root = 1;

struct walk {
  const struct viewpoint *viewpoint;
  int fd; /* where it has got to */
  int links;
  char rest[2 * PATH_MAX];
};

static int is_same(int a, int b) {
  struct stat first, second;
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

static int go_to(struct walk *walk, int fd) {
  if (fd < 0) return -errno;
  close(walk->fd);
  walk->fd = fd;
  return 0;
}

static int go_to_copy(struct walk *walk, int fd) { return go_to(walk, fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

/* Continues with what a link says, and then with what was left. */
static int continue_with(struct walk *walk, const char *target) {
  const size_t length = strlen(target), left = strlen(walk->rest);
  if (length == 0) return -ENOENT;
  if (length + 1 + left >= sizeof walk->rest) return -ENAMETOOLONG;
  memmove(walk->rest + length + 1, walk->rest, left + 1);
  memcpy(walk->rest, target, length);
  walk->rest[length] = '/';
  /* Without a rest the slash would ask for a directory. */
  if (left == 0) walk->rest[length] = 0;
  return *target == '/' ? go_to_copy(walk, walk->viewpoint->root) : 0;
}

/* `self` would be ours. Other links of /proc lead to where the kernel says, and not to the text that one reads. */
static int follow_in_proc(struct walk *walk, const char *name) {
  struct stat directory;
  if (fstat(walk->fd, &directory) < 0) return -errno;
  if (directory.st_ino != proc_root) return go_to(walk, openat(walk->fd, name, O_PATH | O_CLOEXEC));
  const struct viewpoint *viewpoint = walk->viewpoint;
  char target[64];
  if (strcmp(name, "self") == 0) snprintf(target, sizeof target, "%d", viewpoint->process);
  else if (strcmp(name, "thread-self") == 0)
    snprintf(target, sizeof target, "%d/task/%d", viewpoint->process, viewpoint->thread);
  else {
    const ssize_t length = readlinkat(walk->fd, name, target, sizeof target - 1);
    if (length < 0) return -errno;
    target[length] = 0;
  }
  return continue_with(walk, target);
}

static int follow(struct walk *walk, int link, const char *name) {
  if (++walk->links > max_links) return -ELOOP;
  struct statfs system;
  if (fstatfs(walk->fd, &system) < 0) return -errno;
  if (system.f_type == PROC_SUPER_MAGIC) return follow_in_proc(walk, name);
  char target[PATH_MAX];
  const ssize_t length = readlinkat(link, "", target, sizeof target - 1);
  if (length < 0) return -errno;
  target[length] = 0;
  return continue_with(walk, target);
}

static int step(struct walk *walk, const char *name) {
  if (strcmp(name, ".") == 0) return 0;
  if (strcmp(name, "..") == 0) {
    if (is_same(walk->fd, walk->viewpoint->root)) return 0;
    return go_to(walk, openat(walk->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  const int next = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (next < 0) return -errno;
  struct stat status;
  if (fstat(next, &status) == 0 && !S_ISLNK(status.st_mode)) return go_to(walk, next);
  const int error = follow(walk, next, name);
  close(next);
  return error;
}

/* Takes the first name of the rest, without the slashes after it. */
static int take_name(struct walk *walk, char name[NAME_MAX + 1]) {
  const char *start = walk->rest + strspn(walk->rest, "/");
  const size_t length = strcspn(start, "/");
  if (length > NAME_MAX) return -ENAMETOOLONG;
  memcpy(name, start, length);
  name[length] = 0;
  const char *next = start + length;
  /* A slash at the end asks for a directory, which is never a socket. */
  if (*next == '/' && next[strspn(next, "/")] == 0) return -ENOTDIR;
  memmove(walk->rest, next, strlen(next) + 1);
  return length > 0;
}

int path_open(const struct viewpoint *viewpoint, const char *path) {
  struct walk walk = {.viewpoint = viewpoint, .links = 0};
  if (strlen(path) >= PATH_MAX) return -ENAMETOOLONG;
  strcpy(walk.rest, path);
  walk.fd = fcntl(*path == '/' ? viewpoint->root : viewpoint->cwd, F_DUPFD_CLOEXEC, 3);
  if (walk.fd < 0) return -errno;
  char name[NAME_MAX + 1];
  int result;
  while ((result = take_name(&walk, name)) > 0)
    if ((result = step(&walk, name)) < 0) break;
  if (result == 0) return walk.fd;
  close(walk.fd);
  return result;
}
