/* Sockets in the network of the sandbox, which the harness is handed and then uses itself. */
#ifndef TAU_SOCKETS_H
#define TAU_SOCKETS_H

#include <stdint.h>

/*
 * Opens a socket and sends it over `handles`, which is a channel of Node's child processes, with the number `id`. It
 * listens at that port of loopback, or at a free one if that is 0; otherwise it is connected to the port. A failure is sent
 * as an error number.
 */
void sockets_open(int handles, uint32_t id, uint32_t port, int listens);

/* Reads what Node confirms, which nobody needs. Returns 0 when the channel is closed. */
int sockets_drain(int handles);

#endif
