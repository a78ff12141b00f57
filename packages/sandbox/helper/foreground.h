/* The programs that a terminal's input goes to. */
#ifndef TAU_FOREGROUND_H
#define TAU_FOREGROUND_H

#include <stddef.h>

/*
 * Writes ` PID:PARENT:PROGRAM` for the processes of the terminal's foreground group, as many as there is room for. The program is the
 * name of its file, and `?` if that cannot be read: a process can change how it calls itself. Returns the length of the text.
 */
size_t foreground_describe(int terminal, char *target, size_t size);

#endif
