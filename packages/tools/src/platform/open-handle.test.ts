import { constants, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { nodeFileSystem } from "./file-system.ts";
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
  const writes = Array.from({ length: 50 }, (_, index) => handle.write(Buffer.from([index]), index));
  const closing = handle.close();
  expect(handle.close()).toBe(closing);
  await Promise.all([...writes, closing]);
  expect([...readFileSync(path)]).toEqual(Array.from({ length: 50 }, (_, index) => index));
});

test("what is asked of a closed file is refused, although its number may be another's by then", async () => {
  const handle = await openRaw(file(), flags, 0o600);
  await handle.close();
  const other = await openRaw(file(), flags, 0o600);
  expect(other.fd).toBe(handle.fd);
  await expect(handle.stat()).rejects.toMatchObject({ code: "EBADF" });
  await expect(handle.write(Buffer.from("x"))).rejects.toMatchObject({ code: "EBADF" });
  await expect(handle.read(Buffer.alloc(1), 0)).rejects.toMatchObject({ code: "EBADF" });
  expect((await other.stat()).size).toBe(0);
  await other.close();
});

test("a call that is not valid does not keep a file open", async () => {
  const handle = await openRaw(file(), flags, 0o600);
  await expect(handle.read(Buffer.alloc(1), Number.NaN)).rejects.toMatchObject({ code: "ERR_OUT_OF_RANGE" });
  await handle.close();
  await expect(handle.stat()).rejects.toMatchObject({ code: "EBADF" });
});

test("what was written is told and closed alike, whether it was synced or not", async () => {
  const path = file();
  const handle = await openRaw(path, flags, 0o600);
  const sizes = [(await handle.stat()).size];
  await handle.write(Buffer.from("one"));
  sizes.push((await handle.stat()).size);
  await handle.sync();
  sizes.push((await handle.stat()).size);
  await handle.write(Buffer.from("two"));
  await handle.close();
  await expect(handle.stat()).rejects.toMatchObject({ code: "EBADF" });
  expect([...sizes, readFileSync(path, "utf8")]).toEqual([0, 3, 3, "onetwo"]);
});

test("directories are made with all above them, and where that cannot be it is said at once", async () => {
  const path = join(file(), "a", "b", "c");
  await nodeFileSystem.mkdir(path, { recursive: true, mode: 0o700 });
  await nodeFileSystem.mkdir(path, { recursive: true });
  expect(statSync(path).mode & 0o777).toBe(0o700);
  await expect(nodeFileSystem.mkdir("/proc/nothing/here", { recursive: true })).rejects.toMatchObject({
    code: "ENOENT",
  });
});

test.skipIf(process.platform !== "linux")("a full disk names the file", async () => {
  const handle = await openRaw("/dev/full", constants.O_WRONLY);
  await expect(handle.write(Buffer.from("x"))).rejects.toMatchObject({
    code: "ENOSPC",
    path: "/dev/full",
    message: expect.stringMatching(/ENOSPC: .*'\/dev\/full'$/) as string,
  });
  await handle.close();
});
