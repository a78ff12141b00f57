/** A real disk that is full, and a real file with a size limit. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { expect, test } from "vitest";
import { encodeLine } from "../../src/session/line.ts";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { bundle, header, idsIn, patience, scratch, sessionIds, user } from "./kit.ts";

/** Undefined if it cannot be mounted; then the reason is printed. */
function mountSmallDisk(): string | undefined {
  const path = join(scratch(), "disk");
  mkdirSync(path);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tau-torture", path], { stdio: "pipe" });
    return path;
  } catch (error) {
    console.log(`a disk of 64 KB cannot be mounted, so this test is skipped: ${getErrorMessage(error).trim()}`);
    return undefined;
  }
}

test("on a disk of 64 KB, an entry that does not fit is refused, and appends succeed when there is space again", async ({
  skip,
}) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return skip();
  try {
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(16 * 1024));
    const session = await SessionManager.create("/project", disk);
    const ids: string[] = [];
    const fill = async () => {
      for (;;) ids.push(await session.appendMessage(user("x".repeat(900))));
    };
    await expect(fill()).rejects.toMatchObject({
      code: "write_failed",
      message: expect.stringContaining("the disk is full (ENOSPC)"),
    });
    expect(ids.length).toBeGreaterThan(10);
    const path = session.getSessionFile()!;
    expect(recover(readFileSync(path)).problems).toEqual([]);
    expect(idsIn(readFileSync(path), recover(readFileSync(path)))).toEqual(ids);
    await expect(session.appendMessage(user("y".repeat(9_000)))).rejects.toThrow("Fix the problem and try again");
    rmSync(ballast);
    ids.push(await session.appendMessage(user("z".repeat(900))));
    await session.close();
    const again = await SessionManager.open(path);
    expect(await sessionIds(again)).toEqual(ids);
    await again.close();
  } finally {
    execFileSync("umount", [disk]);
  }
});

test("a session with a torn line on a full disk can be read, and the line is set aside when there is space", async ({
  skip,
}) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return skip();
  try {
    const path = join(disk, "2026-01-01T00-00-00-000Z_torture.jsonl");
    writeFileSync(path, Buffer.concat([encodeLine(header()), Buffer.from('{"torn')]));
    const ballast = join(disk, "ballast");
    try {
      writeFileSync(ballast, Buffer.alloc(128 * 1024));
    } catch (error) {
      expect(getErrorMessage(error)).toContain("ENOSPC");
    }
    const session = await SessionManager.open(path);
    expect(session.id).toBe("torture");
    await expect(session.appendMessage(user("x"))).rejects.toThrow("cannot be written");
    await session.close();
    rmSync(ballast);
    const again = await SessionManager.open(path);
    await again.appendMessage(user("x"));
    expect(again.problems).toMatchObject([{ kind: "torn", message: expect.stringContaining("set aside") }]);
    await again.close();
  } finally {
    execFileSync("umount", [disk]);
  }
});

test(
  "an append to a file with a size limit is refused, and the file stays valid",
  { timeout: patience(30) },
  async ({ skip }) => {
    const directory = scratch();
    const script = await bundle("writer", directory);
    const path = join(directory, "2026-01-01T00-00-00-000Z_torture.jsonl");
    writeFileSync(path, encodeLine(header()));
    const limited = spawnSync("prlimit", ["--fsize=65536", process.execPath, script, path, "strict", "forever"], {
      encoding: "utf8",
    });
    if (limited.error) {
      console.log(`no prlimit here, so no file is kept from growing: ${limited.error.message}`);
      return skip();
    }
    expect(limited.stderr).toContain("the file has reached the size limit (EFBIG)");
    const acknowledged = limited.stdout
      .split("\n")
      .filter((line) => line.startsWith("ack "))
      .map((line) => line.slice(4));
    const bytes = readFileSync(path);
    expect(recover(bytes).problems).toEqual([]);
    expect(idsIn(bytes, recover(bytes))).toEqual(acknowledged);
    const session = await SessionManager.open(path);
    await session.appendMessage(user("after"));
    await session.close();
  },
);
