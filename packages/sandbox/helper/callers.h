/* What we have to know of a process that waits for its `connect`, by its number in our namespace. */
#ifndef TAU_CALLERS_H
#define TAU_CALLERS_H

#include <stddef.h>
#include <sys/types.h>

enum { max_groups = 64 };

struct identity {
  uid_t user; /* the effective ones */
  gid_t group;
  gid_t groups[max_groups];
  int group_count;
  pid_t process, thread; /* in its own namespace */
  pid_t leader;          /* the number of its process in our namespace */
};

/* All of these return an error number below zero if the system refuses. */
int caller_identify(pid_t thread, struct identity *identity);
/* A duplicate of its descriptor. */
int caller_take_descriptor(pid_t thread, int fd);
/* Copies from its memory, and nothing less than `size`. */
int caller_read_memory(pid_t thread, unsigned long address, void *target, size_t size);
/* Its directory `cwd` or `root`, opened as a path. */
int caller_open_directory(pid_t thread, const char *name);

#endif
