import { expect, test } from "vitest";
import { findRefusedPorts, mayBeRefused } from "./refused-ports.ts";

test.each([
  "curl: (7) Failed to connect to localhost port 5432 after 0 ms: Couldn't connect to server",
  "Error: connect ECONNREFUSED 127.0.0.1:5432",
  'psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
  "Could not connect to Redis at 127.0.0.1:5432: Connection refused",
  "HTTPConnectionPool(host='localhost', port=5432): Max retries exceeded (Connection refused)",
  "dial tcp [::1]:5432: connect: connection refused",
  "bash: line 1: /dev/tcp/127.0.0.1/5432: Connection refused",
  "ERROR 2003 (HY000): Can't connect to MySQL server on 'localhost:5432' (111)",
])("%s", (output) => {
  expect(mayBeRefused(output)).toBe(true);
  expect(findRefusedPorts(`before\n${output}\nafter`, [80, 5432])).toEqual([5432]);
  expect(findRefusedPorts(output, [80, 5433])).toEqual([]);
});

test.each([
  "connect ECONNREFUSED 10.0.0.1:5432",
  "listening at localhost:5432",
  "5432 tests failed: Connection refused by localhost",
])("does not blame the sandbox: %s", (output) => {
  expect(findRefusedPorts(output, [5432])).toEqual([]);
});
