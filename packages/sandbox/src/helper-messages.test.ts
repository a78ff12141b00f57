import fc from "fast-check";
import { constants } from "node:os";
import { expect, test } from "vitest";
import { decodeReplies, encodeStart } from "./helper-messages.ts";

const reply = (...numbers: number[]) => {
  const bytes = Buffer.alloc(20);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number, index * 4);
  return bytes;
};

test("replies are read wherever the stream is cut", () => {
  const bytes = Buffer.concat([
    reply("P".charCodeAt(0), 1, 5, 6, 7),
    reply("R".charCodeAt(0), 1, 42),
    reply("E".charCodeAt(0), 1, 0, 3, 1),
    reply("E".charCodeAt(0), 2, 1, constants.signals.SIGKILL),
    reply("E".charCodeAt(0), 3, 2, constants.errno.ENOENT),
    reply("M".charCodeAt(0), 13),
  ]);
  const all = [
    { kind: "pipes", slot: 1, stdin: 5, stdout: 6, stderr: 7 },
    { kind: "running", slot: 1, pid: 42 },
    { kind: "exit", slot: 1, status: { kind: "exited", code: 3 }, hadLeftovers: true },
    { kind: "exit", slot: 2, status: { kind: "signalled", signal: "SIGKILL" }, hadLeftovers: false },
    { kind: "exit", slot: 3, status: { kind: "failed", message: "ENOENT", code: "ENOENT" }, hadLeftovers: false },
    { kind: "mounted", error: 13 },
  ];
  fc.assert(
    fc.property(fc.nat({ max: bytes.length }), (cut) => {
      const first = decodeReplies(bytes.subarray(0, cut));
      const second = decodeReplies(Buffer.concat([first.rest, bytes.subarray(cut)]));
      expect([...first.replies, ...second.replies]).toEqual(all);
      expect(second.rest.length).toBe(0);
    }),
  );
});

test.each([
  ["ENOENT", "The directory does not exist."],
  ["EACCES", "The directory cannot be entered."],
] as const)("a command that could not go to its directory with %s says why", (code, message) => {
  const { replies } = decodeReplies(reply("E".charCodeAt(0), 1, 3, constants.errno[code]));
  expect(replies).toMatchObject([{ kind: "exit", status: { kind: "failed", message, code } }]);
});

test("a start carries its arguments, its environment and its limits", () => {
  const request = { argv: ["echo", "ü"] as [string, string], cwd: "/w", env: { A: "1" } };
  const bytes = encodeStart(9, request, { maxFiles: 5, maxProcesses: undefined, maxDataBytes: 3 * 1024 * 1024 - 1 });
  const numbers = Array.from({ length: 9 }, (_unused, index) => bytes.readUInt32LE(index * 4));
  expect(numbers).toEqual([bytes.length - 4, "S".charCodeAt(0), 9, 0, 5, 0, 3, 2, 1]);
  expect(bytes.subarray(36).toString()).toBe("/w\0echo\0ü\0A=1\0");
});
