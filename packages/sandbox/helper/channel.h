/* Messages between the harness and this program, over one stream socket. Numbers are 32 bits, in the machine's order. */
#ifndef TAU_CHANNEL_H
#define TAU_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

/* From the harness: a length, then a type and its fields. Texts end with a zero byte. */
enum request_type {
  request_start = 'S',  /* slot, uses stdin, max files, max processes, max MB, argc, envc; texts: cwd, argv, env */
  request_signal = 'K', /* slot, signal, 1 for all processes or 0 for the group of the command */
  request_mount = 'M',  /* kind; text: path */
  request_socket = 'N', /* id, port inside, and 1 to listen there; answered over the other channel */
  request_allow = 'A',  /* text: a directory in which commands may connect to sockets */
};

/* To the harness: always five numbers, the type first. */
enum reply_type {
  reply_pipes = 'P',   /* slot, and descriptors of ours: end of stdin to write to, ends of stdout and stderr to read */
  reply_running = 'R', /* slot, pid in our namespace */
  reply_exit = 'E',    /* slot, enum exit_kind, value, 1 if processes were left */
  reply_mount = 'M',   /* 0 or an error number */
};

enum exit_kind { exit_code = 0, exit_signal = 1, exit_not_started = 2, exit_no_directory = 3 };

struct request {
  uint32_t type;
  const char *body; /* after the type */
  size_t size;
};

/* Reads what has arrived. Returns 0 when the harness is gone. */
int channel_fill(int fd);
/* The next request that has arrived completely. Valid until the next `channel_fill`. Returns 0 when there is none. */
int channel_next(struct request *request);
void channel_reply(int fd, uint32_t type, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* Takes a number or a text from the front of a request. Malformed requests end the program: only the harness sends them. */
uint32_t take_number(struct request *request);
char *take_text(struct request *request);

#endif
