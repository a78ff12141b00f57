import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSetAside } from "./set-aside.ts";

const makeDirectory = (parent: string): string => {
  const directory = realpathSync(mkdtempSync(join(parent, "tau-aside-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

/** A file system in memory, so that nothing can be renamed from there to the directory for temporary files. */
const otherDevice = "/dev/shm";
const hasOtherDevice = existsSync(otherDevice) && statSync(otherDevice).dev !== statSync(tmpdir()).dev;
if (!hasOtherDevice) console.warn(`Skipped: ${otherDevice} is not a file system of its own here.`);

describe.runIf(hasOtherDevice)("what is set aside from another file system", () => {
  const open = () => {
    const [workspace, kept] = [makeDirectory(otherDevice), makeDirectory(tmpdir())];
    return { workspace, kept, setAside: createSetAside(join(kept, "aside"), () => "1") };
  };

  test("is copied if it is small, with links as they are", () => {
    const { workspace, kept, setAside } = open();
    mkdirSync(join(workspace, ".idea"));
    writeFileSync(join(workspace, ".idea/a"), "x");
    symlinkSync("/etc", join(workspace, ".idea/l"));
    const path = join(kept, "aside/.idea-1");
    expect(setAside(join(workspace, ".idea"))).toEqual({ kind: "kept", path });
    expect(readFileSync(join(path, "a"), "utf8")).toBe("x");
    expect(readdirSync(workspace)).toEqual([]);
  });

  test("gets another name where it is if it is large, because everything would wait for the copy", () => {
    const { workspace, kept, setAside } = open();
    writeFileSync(join(workspace, ".envrc"), "");
    truncateSync(join(workspace, ".envrc"), 64 * 1024 * 1024);
    expect(setAside(join(workspace, ".envrc"))).toEqual({ kind: "kept", path: join(workspace, ".envrc-1") });
    expect(readdirSync(workspace)).toEqual([".envrc-1"]);
    expect(readdirSync(join(kept, "aside"))).toEqual([]);
  });

  test("gets another name where it is if it cannot be copied", () => {
    const { workspace, kept, setAside } = open();
    writeFileSync(join(kept, "aside"), "a file, so that nothing can be put into it");
    writeFileSync(join(workspace, ".envrc"), "x");
    expect(setAside(join(workspace, ".envrc"))).toEqual({ kind: "kept", path: join(workspace, ".envrc-1") });
    expect(readFileSync(join(workspace, ".envrc-1"), "utf8")).toBe("x");
  });

  test("gets another name where it is if it has many files", () => {
    const { workspace, setAside } = open();
    mkdirSync(join(workspace, ".idea"));
    for (let index = 0; index < 1_000; index++) writeFileSync(join(workspace, ".idea", String(index)), "");
    setAside(join(workspace, ".idea"));
    expect(readdirSync(workspace)).toEqual([".idea-1"]);
  });
});
