#ifndef TAU_PRIVILEGES_H
#define TAU_PRIVILEGES_H

#include <stdint.h>

/* Gives up every capability that is not in `kept`, for good. Returns 0 or an error number. */
int privileges_drop(uint64_t kept);

#endif
