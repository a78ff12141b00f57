#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "first-process.h"
#include "mounts.h"
#include "privileges.h"
#include "stand-back.h"

static void close_both(int pipe[2]) {
  close(pipe[0]);
  close(pipe[1]);
}

struct command *command_prepare(uint32_t slot) {
  struct command *command = calloc(1, sizeof *command);
  if (!command) return NULL;
  command->slot = slot;
  command->outcome =
      mmap(NULL, sizeof *command->outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (command->outcome == MAP_FAILED) goto no_memory;
  if (pipe2(command->stdin_pipe, O_CLOEXEC) < 0) goto no_stdin;
  if (pipe2(command->stdout_pipe, O_CLOEXEC) < 0) goto no_stdout;
  if (pipe2(command->stderr_pipe, O_CLOEXEC) < 0) goto no_stderr;
  return command;
no_stderr:
  close_both(command->stdout_pipe);
no_stdout:
  close_both(command->stdin_pipe);
no_stdin:
  munmap(command->outcome, sizeof *command->outcome);
no_memory:
  free(command);
  return NULL;
}

static void limit(int resource, rlim_t max) {
  struct rlimit current;
  if (max == 0 || getrlimit(resource, &current) < 0) return;
  if (current.rlim_max != RLIM_INFINITY && current.rlim_max <= max) return;
  const struct rlimit lower = {max, max};
  setrlimit(resource, &lower);
}

static char **take_texts(struct request *request, uint32_t count) {
  char **texts = calloc((size_t)count + 1, sizeof *texts);
  if (!texts) _exit(70);
  for (uint32_t index = 0; index < count; index++) texts[index] = take_text(request);
  return texts;
}

static void give_up(struct outcome *outcome, uint32_t kind, int error) {
  outcome->kind = kind;
  outcome->value = (uint32_t)error;
  _exit(0);
}

int command_start(struct command *command, struct request *request, uint64_t kept_capabilities) {
  const int uses_stdin = take_number(request) != 0;
  const uint32_t max_files = take_number(request);
  const uint32_t max_processes = take_number(request);
  const rlim_t max_data = (rlim_t)take_number(request) << 20;
  const uint32_t argc = take_number(request);
  const uint32_t envc = take_number(request);
  const char *cwd = take_text(request);
  char **argv = take_texts(request, argc);
  char **env = take_texts(request, envc);
  /* As fork does, but in new namespaces. */
  const pid_t first = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, 0);
  if (first == 0) {
    struct outcome *outcome = command->outcome;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    int error = mounts_fresh_proc();
    if (error) give_up(outcome, exit_not_started, error);
    stand_back();
    limit(RLIMIT_NOFILE, max_files);
    limit(RLIMIT_NPROC, max_processes);
    limit(RLIMIT_DATA, max_data);
    error = privileges_drop(kept_capabilities);
    if (error) give_up(outcome, exit_not_started, error);
    /* Last, so that a directory is found only where the command itself could go. */
    if (chdir(cwd) < 0) give_up(outcome, exit_no_directory, errno);
    /* Our memory holds the environment of earlier commands: this process must not be readable for the command. */
    prctl(PR_SET_DUMPABLE, 0);
    const int in = uses_stdin ? command->stdin_pipe[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
    first_process_run(outcome, argv, env, (const int[3]){in, command->stdout_pipe[1], command->stderr_pipe[1]});
  }
  const int error = first < 0 ? errno : 0;
  close_both(command->stdin_pipe);
  close_both(command->stdout_pipe);
  close_both(command->stderr_pipe);
  free(argv);
  free(env);
  if (!error) command->first = first;
  return error;
}

void command_signal(const struct command *command, int signal, int all) {
  if (all) kill(command->first, SIGKILL);
  else sigqueue(command->first, forward_signal, (union sigval){.sival_int = signal});
}

void command_release(struct command *command) {
  munmap(command->outcome, sizeof *command->outcome);
  free(command);
}
