#include "channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than the system takes for arguments and environment together. */
static const size_t max_request = 16u << 20;

static char *buffer;
static size_t capacity, used, taken;

static void fail(void) { _exit(70); }

int channel_fill(int fd) {
  memmove(buffer, buffer + taken, used - taken);
  used -= taken;
  taken = 0;
  if (capacity - used < 65536) {
    capacity = capacity ? capacity * 2 : 262144;
    if (capacity > 2 * max_request) fail();
    buffer = realloc(buffer, capacity);
    if (!buffer) fail();
  }
  ssize_t count = read(fd, buffer + used, capacity - used);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  used += (size_t)count;
  return count > 0;
}

int channel_next(struct request *request) {
  uint32_t length;
  if (used - taken < sizeof length) return 0;
  memcpy(&length, buffer + taken, sizeof length);
  if (length > max_request || length < sizeof request->type) fail();
  if (used - taken - sizeof length < length) return 0;
  request->body = buffer + taken + sizeof length;
  request->size = length;
  request->type = take_number(request);
  taken += sizeof length + length;
  return 1;
}

void channel_reply(int fd, uint32_t type, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const uint32_t message[5] = {type, a, b, c, d};
  const char *rest = (const char *)message;
  for (size_t left = sizeof message; left > 0;) {
    ssize_t count = write(fd, rest, left);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    rest += count;
    left -= (size_t)count;
  }
}

uint32_t take_number(struct request *request) {
  uint32_t number;
  if (request->size < sizeof number) fail();
  memcpy(&number, request->body, sizeof number);
  request->body += sizeof number;
  request->size -= sizeof number;
  return number;
}

char *take_text(struct request *request) {
  const char *end = memchr(request->body, 0, request->size);
  if (!end) fail();
  char *text = (char *)request->body;
  request->size -= (size_t)(end - request->body) + 1;
  request->body = end + 1;
  return text;
}
