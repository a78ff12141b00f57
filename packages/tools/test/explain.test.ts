import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ToolsError } from "../src/errors.ts";
import { explained } from "../src/platform/explain.ts";
import { createFiles, type Files } from "../src/platform/files.ts";
import { faultyFileSystem } from "../src/testing/faults.ts";
import { directFileSystem } from "./direct-file-system.ts";
import { scratch } from "./scratch.ts";

test.each(Object.keys(constants.errno))("%s has words that name the path and not only the code", (code) => {
  const cause = Object.assign(new Error(`${code}: something, open '/proc/self/fd/20/.tau-1.tmp'`), { code });
  const error = explained(cause, "a/b.txt");
  expect(error).toBeInstanceOf(ToolsError);
  const { message, cause: kept } = error as ToolsError;
  expect(kept).toBe(cause);
  expect(message).toMatch(/a\/b\.txt.*\.$/);
  expect(message).not.toContain("/proc/self");
  expect(message.length).toBeGreaterThan(20);
});

test.each([
  ["ENOSPC", "unavailable", /no space left/],
  ["EDQUOT", "unavailable", /quota/],
  ["EROFS", "denied", /only be read/],
  ["EIO", "failed", /disk failed/],
  ["EMFILE", "unavailable", /Too many files/],
  ["EBUSY", "busy", /in use/],
  ["ETXTBSY", "busy", /running/],
  ["EFBIG", "too_large", /larger/],
  ["EAGAIN", "busy", /no data at the moment/],
])("%s is %s", (code, kind, words) => {
  const error = explained(Object.assign(new Error(code), { code }), "x");
  expect(error).toMatchObject({ code: kind, message: expect.stringMatching(words) });
});

test("what is no failure of the system is not put into other words", () => {
  for (const error of [new TypeError("bug"), new ToolsError("stale", "x"), "text", undefined]) {
    expect(explained(error, "x")).toBe(error);
  }
});

test("whatever call of the port fails, with whatever code, the model reads about its path", async () => {
  const calls: ((files: Files, path: string) => Promise<unknown>)[] = [
    (files, path) => files.openRead(path).then((file) => file.close()),
    (files, path) => files.readWhole(path, 100),
    (files, path) => files.stat(path),
    (files, path) => files.list(join(path, "..")),
    (files, path) => files.realPath(path),
    (files, path) => files.writeWhole(path, Buffer.from("x")),
    (files, path) => files.writeWhole(join(path, "../new/directory/file"), Buffer.from("x")),
  ];
  for (const code of ["EIO", "ENOSPC", "ELOOP", "EMFILE", "EACCES", "ENOENT", "EUNKNOWN"]) {
    for (const call of calls) {
      for (let at = 1; ; at++) {
        const directory = scratch();
        const path = join(directory, "file");
        writeFileSync(path, "old");
        const fileSystem = faultyFileSystem(directFileSystem, { at, code });
        const error: unknown = await call(createFiles({ fileSystem }), path).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (fileSystem.calls.length < at) break;
        if (error === undefined) continue;
        expect(error, `${fileSystem.calls.join(" ")} ${code}`).toMatchObject({ name: "ToolsError" });
        expect((error as Error).message).toContain(directory);
        // The name of the directory is random, and may be like that of a temporary file.
        expect((error as Error).message.replaceAll(directory, "")).not.toMatch(/injected|tau-.*tmp|\/proc/);
      }
    }
  }
});

test("real failures are explained too", async () => {
  const directory = scratch();
  const files = createFiles();
  mkdirSync(join(directory, "dir"));
  symlinkSync("circle", join(directory, "circle"));
  const long = join(directory, "x".repeat(300));
  for (const call of ["openRead", "stat", "list", "realPath"] as const) {
    await expect(files[call](long)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(files[call](join(directory, "circle"))).rejects.toThrow(/circle/);
  }
  await expect(files.writeWhole(long, Buffer.from("x"))).rejects.toMatchObject({ code: "invalid_input" });
  await expect(files.writeWhole(join(directory, "circle/x"), Buffer.from("x"))).rejects.toThrow(/circle/);
});
