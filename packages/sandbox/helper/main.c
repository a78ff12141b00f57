/*
 * The first process of a session's sandbox: `tau-sandbox-helper DESCRIPTOR CAPABILITIES HANDLES GUARD`. It is started by
 * bubblewrap, which has made the mounts and the network, and starts each command that the harness sends over the socket
 * DESCRIPTOR, in a pid namespace of its own and with no more than CAPABILITIES (a hexadecimal mask). It ends with the
 * socket, and everything in the sandbox ends with it. Over the descriptor HANDLES it hands sockets to the harness. If GUARD
 * is 1, commands can connect only to sockets in directories that the harness names.
 *
 * `tau-sandbox-helper try` ends with 0 if the system offers what that needs, and else with 75.
 * `tau-sandbox-helper terminal COLUMNS ROWS PROGRAM…` runs a program on a terminal of its own; see `terminal.h`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel.h"
#include "command.h"
#include "connections.h"
#include "first-process.h"
#include "mounts.h"
#include "sockets.h"
#include "terminal.h"

/* Slots whose pipes the harness can open at once, so that it need not wait for any. */
static const int prepared_slots = 2;

static struct command *commands;
static uint32_t last_slot;

static struct command *find_slot(uint32_t slot) {
  for (struct command *command = commands; command; command = command->next)
    if (command->slot == slot) return command;
  return NULL;
}

static void remove_command(struct command *command) {
  struct command **link = &commands;
  while (*link != command) link = &(*link)->next;
  *link = command->next;
  command_release(command);
}

static void prepare_slot(int channel) {
  struct command *command = command_prepare(++last_slot);
  /* Descriptor 0 is never one of a pipe, so it says that there is no slot. */
  if (!command) return channel_reply(channel, reply_pipes, last_slot, 0, 0, 0);
  command->next = commands;
  commands = command;
  channel_reply(channel, reply_pipes, command->slot, (uint32_t)command->stdin_pipe[1],
                (uint32_t)command->stdout_pipe[0], (uint32_t)command->stderr_pipe[0]);
}

static void start(int channel, struct request *request, uint64_t kept_capabilities) {
  struct command *command = find_slot(take_number(request));
  if (!command || command->first) _exit(70);
  const int error = command_start(command, request, kept_capabilities);
  if (error) {
    channel_reply(channel, reply_exit, command->slot, exit_not_started, (uint32_t)error, 0);
    remove_command(command);
  } else channel_reply(channel, reply_running, command->slot, (uint32_t)command->first, 0, 0);
  prepare_slot(channel);
}

static void handle(int channel, int handles, struct request *request, uint64_t kept_capabilities) {
  switch (request->type) {
    case request_start:
      return start(channel, request, kept_capabilities);
    case request_signal: {
      struct command *command = find_slot(take_number(request));
      const int number = (int)take_number(request);
      if (command && command->first) command_signal(command, number, (int)take_number(request));
      return;
    }
    case request_mount: {
      const int kind = (int)take_number(request);
      return channel_reply(channel, reply_mount, (uint32_t)mounts_apply(kind, take_text(request)), 0, 0, 0);
    }
    case request_socket: {
      const uint32_t id = take_number(request);
      const uint32_t port = take_number(request);
      return sockets_open(handles, id, port, take_number(request) != 0);
    }
    case request_allow:
      return connections_allow(take_text(request));
    default:
      _exit(70);
  }
}

/* A first process that was killed from outside has not said how its command ended. */
static void report(int channel, const struct command *command, int status) {
  const struct outcome outcome = *command->outcome;
  if (WIFSIGNALED(status))
    channel_reply(channel, reply_exit, command->slot, exit_signal, (uint32_t)WTERMSIG(status), 0);
  else channel_reply(channel, reply_exit, command->slot, outcome.kind, outcome.value, outcome.had_leftovers);
}

static void collect(int channel) {
  int status;
  connections_forget();
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (struct command *command = commands; command; command = command->next) {
      if (command->first != pid) continue;
      report(channel, command, status);
      remove_command(command);
      break;
    }
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "try") == 0) return connections_try() == 0 ? 0 : 75;
  if (argc > 4 && strcmp(argv[1], "terminal") == 0) terminal_run(atoi(argv[2]), atoi(argv[3]), argv + 4);
  if (argc != 5) return 64;
  const int channel = atoi(argv[1]);
  const uint64_t kept_capabilities = strtoull(argv[2], NULL, 16);
  const int handles = atoi(argv[3]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  fcntl(channel, F_SETFD, FD_CLOEXEC);
  fcntl(handles, F_SETFD, FD_CLOEXEC);
  if (mounts_separate() != 0) return 71;
  if (strcmp(argv[4], "1") == 0 && connections_guard() != 0) return 71;
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigset_t blocked = wanted;
  sigaddset(&blocked, SIGPIPE);
  /* For the first processes of commands: a signal that comes while one is starting must wait for it. */
  sigaddset(&blocked, forward_signal);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  const int children = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (children < 0) return 71;
  for (int slot = 0; slot < prepared_slots; slot++) prepare_slot(channel);
  struct pollfd sources[3] = {{channel, POLLIN, 0}, {children, POLLIN, 0}, {handles, POLLIN, 0}};
  for (;;) {
    if (poll(sources, 3, -1) < 0 && errno != EINTR) return 71;
    if (sources[1].revents) {
      struct signalfd_siginfo info;
      while (read(children, &info, sizeof info) > 0) continue;
      collect(channel);
    }
    /* A negative descriptor is not polled any more. */
    if (sources[2].revents && !sockets_drain(handles)) sources[2].fd = -1;
    if (!sources[0].revents) continue;
    if (!channel_fill(channel)) return 0;
    for (struct request request; channel_next(&request);) handle(channel, handles, &request, kept_capabilities);
  }
}
