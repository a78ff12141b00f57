import { expect, test } from "vitest";
import { describeMemoryLimits } from "./memory-limits.ts";

const limits = { maxMemoryMb: undefined, maxMemoryFilesMb: 256 };
const mounts = [{ kind: "empty" as const, path: "/run" }];

const describe = (output: string, isFull = true, more: object = {}) =>
  describeMemoryLimits({ output, cwd: "/src/app", mounts, isDiskFull: () => isFull }, { ...limits, ...more }).join(
    "\n",
  );

test.each([
  "dd: error writing '/dev/shm/x': No space left on device",
  "cp: error writing '/run/deep/x': No space left on device",
  "Error: ENOSPC: no space left on device, write '/dev/shm/x'",
])("%s is told with the setting that allows more", (output) => {
  expect(describe(`first\n${output}\n`)).toMatch(
    /\(\/run, \/dev\/shm\) hold at most 256 MB .* sandbox\.maxMemoryFilesMb/,
  );
});

test("without a path it is told if no disk is full", () => {
  expect(describe("write error: No space left on device", false)).toContain("sandbox.maxMemoryFilesMb");
  expect(describe("write error: No space left on device", true)).toBe("");
});

test("a full disk and too many watched files are something else", () => {
  expect(describe("cp: error writing '/src/app/x': No space left on device")).toBe("");
  expect(describe("ENOSPC: System limit for number of file watchers reached, watch '/src'", false)).toBe("");
  expect(describe("all is well", false)).toBe("");
});

test.each(["bash: fork: Cannot allocate memory", "MemoryError", "std::bad_alloc", "JavaScript heap out of memory"])(
  "%s is told where there is a limit",
  (output) => {
    expect(describe(output, true, { maxMemoryMb: 512 })).toMatch(/at most 512 MB of memory.* sandbox\.maxMemoryMb/);
    expect(describe(output)).toBe("");
  },
);
