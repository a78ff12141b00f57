#ifndef TAU_FIRST_PROCESS_H
#define TAU_FIRST_PROCESS_H

#include <signal.h>

#include "command.h"

/* Its value is the signal that the group of the command gets. */
#define forward_signal SIGUSR1

/*
 * The first process of a namespace: starts the command, collects what has ended, and ends with the command. The kernel
 * then ends everything else inside. Never returns.
 */
_Noreturn void first_process_run(struct outcome *outcome, char **argv, char **env, const int streams[3]);

#endif
