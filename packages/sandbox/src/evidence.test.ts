import { expect, test } from "vitest";
import { findEvidence } from "./evidence.ts";
import type { Mount } from "./mounts.ts";

const mounts: Mount[] = [
  { kind: "writable", path: "/w" },
  { kind: "read-only", path: "/w/.envrc" },
  { kind: "hidden-directory", path: "/home/ann/.aws" },
];

test.each([
  ["bash: line 1: /etc/x: Read-only file system", { outside: ["/etc/x"] }],
  ["touch: cannot touch '/etc/a b': Read-only file system", { outside: ["/etc/a b"] }],
  ["mkdir: cannot create directory ‘/opt/new’: Read-only file system", { outside: ["/opt/new"] }],
  ["Error: EROFS: read-only file system, open '/etc/x'", { outside: ["/etc/x"] }],
  ["OSError: [Errno 30] Read-only file system: '/etc/x'", { outside: ["/etc/x"] }],
  ["open /etc/x: read-only file system", { outside: ["/etc/x"] }],
  ["tool: cannot update: /home/ann/.tool/bin isn't writable", { outside: ["/home/ann/.tool/bin"] }],
  ["The directory '/home/ann/.tool' is not writable.", { outside: ["/home/ann/.tool"] }],
  ["/w/build is not writable", {}],
  ["bash: .envrc: Read-only file system", { protected: ["/w/.envrc"] }],
  ["cat: /home/ann/.aws/config: No such file or directory", { hidden: ["/home/ann/.aws/config"] }],
  // The file system itself refuses these, or nobody knows which path it was.
  ["bash: file: Read-only file system", {}],
  ["cat: /etc/shadow: Permission denied", {}],
  ["cat: missing: No such file or directory", {}],
  ["Read-only file system (os error 30)", {}],
])("%s", (output, expected) => {
  const none = { refusals: [], ports: [], outside: [], protected: [], hidden: [] };
  expect(findEvidence({ refusals: [], outerPorts: [], output, cwd: "/w", mounts })).toEqual({ ...none, ...expected });
});

test("a host that was refused many times is told once", () => {
  const refusal = { target: "a.example:443", kind: "not_allowed" } as const;
  const evidence = findEvidence({ refusals: [refusal, refusal], outerPorts: [], output: "", cwd: "/w", mounts });
  expect(evidence.refusals).toEqual([refusal]);
});
