/*
 * A program on a pseudo terminal, between two pipes and a third one for answers. Standard input brings messages: a type, the length of
 * its body as four bytes (the lowest first), and the body. What the program prints goes to standard output as it is. Each message but
 * `terminal_reply` is answered by one line on standard error:
 *
 *   S ECHO CANONICAL WRITTEN COLUMNS ROWS PID:PARENT:PROGRAM…
 */
#ifndef TAU_TERMINAL_H
#define TAU_TERMINAL_H

enum terminal_message {
  terminal_query = 'Q',
  /* Bytes for the program. Left out, and 0 for WRITTEN, where it reads whole lines and shows nothing of them: a password. */
  terminal_write = 'W',
  /* Bytes that are always written: keys that end a program or its prompt. */
  terminal_keys = 'K',
  /* Bytes that a terminal answers by itself. They come last: left out while others wait. */
  terminal_reply = 'R',
  /* Two numbers of four bytes: columns and rows. */
  terminal_resize = 'Z',
};

/*
 * Runs `argv` and ends as it ends; everything that is still on the terminal is hung up. Ends when standard input does, and with 75 if
 * there is no terminal to be had.
 */
_Noreturn void terminal_run(int columns, int rows, char **argv);

#endif
