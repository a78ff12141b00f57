#define _GNU_SOURCE
#include "fixed-directories.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each is a mount, and every command gets a copy of all mounts. */
enum { max_names = 500 };

/* One name, and what was there when it was mounted. */
struct entry {
  char *name;
  dev_t device;
  ino_t file;
  mode_t type;
  int is_present; /* in the directory, when that was read last */
  struct entry *next;
};

struct fixed {
  char *path;
  int real;  /* the directory itself, which is below ours */
  int shown; /* ours, in memory */
  struct entry *entries;
  struct fixed *next;
};

static struct fixed *all;

static void name_file(char path[PATH_MAX], int directory, const char *name) {
  snprintf(path, PATH_MAX, "/proc/self/fd/%d/%s", directory, name);
}

static struct fixed *find(const char *path) {
  for (struct fixed *fixed = all; fixed; fixed = fixed->next)
    if (strcmp(fixed->path, path) == 0) return fixed;
  return NULL;
}

static struct entry *find_entry(const struct fixed *fixed, const char *name) {
  for (struct entry *entry = fixed->entries; entry; entry = entry->next)
    if (strcmp(entry->name, name) == 0) return entry;
  return NULL;
}

static void release(struct fixed *fixed) {
  for (struct entry *entry = fixed->entries, *next; entry; entry = next) {
    next = entry->next;
    free(entry->name);
    free(entry);
  }
  if (fixed->real >= 0) close(fixed->real);
  if (fixed->shown >= 0) close(fixed->shown);
  free(fixed->path);
  free(fixed);
}

/* What was fixed below a name that is gone is another directory now. */
static void forget_below(const char *path, const char *name) {
  char below[PATH_MAX];
  const int length = snprintf(below, sizeof below, "%s/%s", path, name);
  for (struct fixed **link = &all; *link;) {
    struct fixed *fixed = *link;
    if (strncmp(fixed->path, below, (size_t)length) != 0 || (fixed->path[length] != 0 && fixed->path[length] != '/'))
      link = &fixed->next;
    else {
      *link = fixed->next;
      release(fixed);
    }
  }
}

static int show_link(const struct fixed *fixed, const char *name) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(fixed->real, name, target, sizeof target - 1);
  if (length < 0) return errno;
  target[length] = 0;
  return symlinkat(target, fixed->shown, name) < 0 ? errno : 0;
}

static int show_file(const struct fixed *fixed, const char *name, int is_directory) {
  const int made = is_directory ? mkdirat(fixed->shown, name, 0755) : mknodat(fixed->shown, name, S_IFREG | 0444, 0);
  if (made < 0) return errno;
  char source[PATH_MAX], target[PATH_MAX];
  name_file(source, fixed->real, name);
  name_file(target, fixed->shown, name);
  /* It keeps the flags of the mount that it is in, and what is mounted below it. */
  if (mount(source, target, NULL, MS_BIND | MS_REC, NULL) == 0) return 0;
  const int error = errno;
  unlinkat(fixed->shown, name, is_directory ? AT_REMOVEDIR : 0);
  return error;
}

/* What cannot be shown is missing inside, which harms nobody. */
static void show(struct fixed *fixed, const char *name, const struct stat *status) {
  const int error = S_ISLNK(status->st_mode) ? show_link(fixed, name) : show_file(fixed, name, S_ISDIR(status->st_mode));
  struct entry *entry = error ? NULL : calloc(1, sizeof *entry);
  if (!entry) return;
  *entry = (struct entry){strdup(name), status->st_dev, status->st_ino, status->st_mode & S_IFMT, 1, fixed->entries};
  if (!entry->name) _exit(70);
  fixed->entries = entry;
}

static void hide(struct fixed *fixed, struct entry **link) {
  struct entry *entry = *link;
  forget_below(fixed->path, entry->name);
  char path[PATH_MAX];
  name_file(path, fixed->shown, entry->name);
  /* Also what was mounted on it later. */
  while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0) continue;
  unlinkat(fixed->shown, entry->name, S_ISDIR(entry->type) ? AT_REMOVEDIR : 0);
  *link = entry->next;
  free(entry->name);
  free(entry);
}

static int is_same(const struct entry *entry, const struct stat *status) {
  return entry->device == status->st_dev && entry->file == status->st_ino && entry->type == (status->st_mode & S_IFMT);
}

static DIR *list(const struct fixed *fixed) {
  const int fd = openat(fixed->real, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? NULL : fdopendir(fd);
}

static int is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

static int count_names(const struct fixed *fixed) {
  DIR *directory = list(fixed);
  if (!directory) return -errno;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory));) count += !is_dots(entry->d_name);
  closedir(directory);
  return count;
}

static int update(struct fixed *fixed) {
  DIR *directory = list(fixed);
  if (!directory) return errno;
  for (struct entry *entry = fixed->entries; entry; entry = entry->next) entry->is_present = 0;
  struct stat status;
  for (struct dirent *found; (found = readdir(directory));) {
    const char *name = found->d_name;
    /* Sockets cannot be connected to there. */
    if (is_dots(name) || fstatat(fixed->real, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || S_ISSOCK(status.st_mode)) continue;
    struct entry *entry = find_entry(fixed, name);
    if (entry && is_same(entry, &status)) entry->is_present = 1;
  }
  for (struct entry **link = &fixed->entries; *link;)
    if ((*link)->is_present) link = &(*link)->next;
    else hide(fixed, link);
  rewinddir(directory);
  for (struct dirent *found; (found = readdir(directory));) {
    const char *name = found->d_name;
    if (is_dots(name) || find_entry(fixed, name)) continue;
    if (fstatat(fixed->real, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISSOCK(status.st_mode))
      show(fixed, name, &status);
  }
  closedir(directory);
  return 0;
}

static const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

static int remount(const struct fixed *fixed, unsigned long more) {
  return mount(NULL, fixed->path, NULL, MS_REMOUNT | MS_BIND | flags | more, NULL) < 0 ? errno : 0;
}

static int cover(struct fixed *fixed) {
  struct stat status;
  fixed->real = open(fixed->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fixed->real < 0 || fstat(fixed->real, &status) < 0) return errno;
  const int count = count_names(fixed);
  if (count < 0) return -count;
  if (count > max_names) return E2BIG;
  char options[64];
  snprintf(options, sizeof options, "mode=0%o,size=1m,nr_inodes=%d", status.st_mode & 0777, 4 * max_names);
  if (mount("tmpfs", fixed->path, "tmpfs", flags, options) < 0) return errno;
  fixed->shown = open(fixed->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return fixed->shown < 0 ? errno : 0;
}

int fixed_directory_update(const char *path) {
  struct fixed *fixed = find(path);
  int error;
  if (fixed) error = remount(fixed, 0);
  else {
    fixed = calloc(1, sizeof *fixed);
    if (!fixed || !(fixed->path = strdup(path))) _exit(70);
    fixed->real = fixed->shown = -1;
    error = cover(fixed);
    if (error) {
      release(fixed);
      return error;
    }
    fixed->next = all;
    all = fixed;
  }
  if (!error) error = update(fixed);
  const int closed = remount(fixed, MS_RDONLY);
  return error ? error : closed;
}
