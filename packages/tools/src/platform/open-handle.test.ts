import { constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openRaw } from "./open-handle.ts";

function file() {
  const directory = mkdtempSync(join(tmpdir(), "tau-handle-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, "file");
}

const flags = constants.O_RDWR | constants.O_CREAT;

test("a file is closed once, and only when no call is under way", async () => {
  const path = file();
  const handle = await openRaw(path, flags, 0o600);
  const writes = Array.from({ length: 50 }, (_, at) => handle.write(Buffer.from([at]), at));
  const closing = handle.close();
  expect(handle.close()).toBe(closing);
  await Promise.all([...writes, closing]);
  expect([...readFileSync(path)]).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

test("what is asked of a closed file is refused, although its number may be another's by then", async () => {
  const handle = await openRaw(file(), flags, 0o600);
  await handle.close();
  const other = await openRaw(file(), flags, 0o600);
  expect(other.fd).toBe(handle.fd);
  await expect(handle.write(Buffer.from("x"))).rejects.toMatchObject({ code: "EBADF" });
  await expect(handle.read(Buffer.alloc(1), 0)).rejects.toMatchObject({ code: "EBADF" });
  expect((await other.stat()).size).toBe(0);
  await other.close();
});
