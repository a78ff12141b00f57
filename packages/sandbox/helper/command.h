/* One command: its pipes, and the pid namespace in which it runs with everything that it starts. */
#ifndef TAU_COMMAND_H
#define TAU_COMMAND_H

#include <stdint.h>
#include <sys/types.h>

#include "channel.h"

/* Written by the first process of the namespace, read by ours when that has ended. */
struct outcome {
  uint32_t kind; /* enum exit_kind */
  uint32_t value;
  uint32_t had_leftovers;
};

struct command {
  uint32_t slot;
  pid_t first; /* the first process of its namespace; 0 while the slot waits for a command */
  int stdin_pipe[2], stdout_pipe[2], stderr_pipe[2];
  struct outcome *outcome;
  struct command *next;
};

/* A slot with pipes that the harness can open. NULL when the system has no more. */
struct command *command_prepare(uint32_t slot);
/* Starts what `request` says. Returns 0 or an error number; the pipes are closed here in either case. */
int command_start(struct command *command, struct request *request, uint64_t kept_capabilities);
/* Signals the group of the command, or ends all of its processes at once. */
void command_signal(const struct command *command, int signal, int all);
void command_release(struct command *command);

#endif
