/* Finds what a path leads to for another process. */
#ifndef TAU_PATHS_H
#define TAU_PATHS_H

#include <sys/types.h>

/* Where paths begin, and what `/proc/self` and `/proc/thread-self` are there. */
struct viewpoint {
  int root, cwd; /* opened as paths */
  pid_t process, thread;
};

/* Opens it as a path, with all links followed. Returns a descriptor, or an error number below zero. */
int path_open(const struct viewpoint *viewpoint, const char *path);

#endif
