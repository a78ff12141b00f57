import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createDraftFile } from "./draft.ts";

/** No process has these numbers. */
const [deadPid, otherDeadPid] = [2 ** 22 + 1, 2 ** 22 + 2];

function createDirectory() {
  const agentDir = mkdtempSync(join(tmpdir(), "tau-draft-"));
  onTestFinished(() => rmSync(agentDir, { recursive: true, force: true }));
  const problems: string[] = [];
  const open = (pid: number, cwd = "/work") =>
    createDraftFile({ agentDir, cwd, pid, onError: (message) => problems.push(message) });
  return { agentDir, drafts: join(agentDir, "drafts"), open, problems };
}

test("what a process left is given once, to the next one in the same directory only", () => {
  const { open } = createDirectory();
  const dead = open(deadPid);
  dead.keep(() => "half a thought\nof two lines");
  dead.flush();
  expect(open(process.pid, "/elsewhere").take()).toBeUndefined();
  expect(open(process.pid).take()).toBe("half a thought\nof two lines");
  expect(open(otherDeadPid).take()).toBeUndefined();
});

test("what is taken is kept again at once, so that a second kill does not lose it", () => {
  const { open } = createDirectory();
  for (const [pid, text] of [
    [deadPid, "first"],
    [deadPid + 5, "second"],
  ] as const) {
    const draft = open(pid);
    draft.keep(() => text);
    draft.flush();
  }
  const taken = open(otherDeadPid).take();
  expect(taken?.split("\n\n").toSorted()).toEqual(["first", "second"]);
  expect(open(process.pid).take()).toBe(taken);
});

test("what an earlier process of the same number left is kept again too", () => {
  const { open } = createDirectory();
  const earlier = open(deadPid);
  earlier.keep(() => "half a thought");
  earlier.flush();
  expect(open(deadPid).take()).toBe("half a thought");
  expect(open(process.pid).take()).toBe("half a thought");
});

test("a process that still runs keeps its own", () => {
  const { open } = createDirectory();
  const running = open(process.ppid);
  running.keep(() => "mine");
  running.flush();
  expect(open(process.pid).take()).toBeUndefined();
});

test("only the user can read it, and what was sent is not kept", () => {
  const { drafts, open } = createDirectory();
  const draft = open(deadPid);
  draft.keep(() => "secret");
  draft.flush();
  const [name = ""] = readdirSync(drafts);
  expect(statSync(join(drafts, name)).mode & 0o777).toBe(0o600);
  expect(statSync(drafts).mode & 0o777).toBe(0o700);
  draft.keep(() => "  ");
  draft.flush();
  expect(readdirSync(drafts)).toEqual([]);
});

test("a disk that refuses is told once until it takes something again, and nothing is thrown", () => {
  const { agentDir, drafts, open, problems } = createDirectory();
  const draft = open(deadPid);
  const type = (text: string) => {
    draft.keep(() => text);
    draft.flush();
  };
  const refuse = () => writeFileSync(drafts, "a file where the directory should be");
  refuse();
  type("text");
  type("text, and more");
  expect(problems).toEqual([expect.stringContaining("What you type cannot be kept: ")]);
  expect(existsSync(agentDir)).toBe(true);
  rmSync(drafts);
  type("kept");
  expect(problems).toHaveLength(1);
  rmSync(drafts, { recursive: true });
  refuse();
  type("lost");
  expect(problems).toHaveLength(2);
});

test("what cannot be kept again stays in the file of the process that left it", () => {
  const { drafts, open, problems } = createDirectory();
  const dead = open(deadPid);
  dead.keep(() => "half a thought");
  dead.flush();
  const [name = ""] = readdirSync(drafts);
  // A directory where the new file should be: writing fails, as on a full disk.
  mkdirSync(join(drafts, `${name.replace(String(deadPid), String(otherDeadPid))}.new`));
  expect(open(otherDeadPid).take()).toBe("half a thought");
  expect(problems).toHaveLength(1);
  expect(open(process.pid).take()).toBe("half a thought");
});

test("a draft that cannot be read is told, and the others are given", () => {
  const { drafts, open, problems } = createDirectory();
  const dead = open(deadPid);
  dead.keep(() => "half a thought");
  dead.flush();
  const [name = ""] = readdirSync(drafts);
  mkdirSync(join(drafts, name.replace(String(deadPid), String(otherDeadPid))));
  symlinkSync(join(drafts, "gone"), join(drafts, name.replace(String(deadPid), String(deadPid + 5))));
  expect(open(process.pid).take()).toBe("half a thought");
  expect(problems).toEqual([expect.stringContaining("What was typed before cannot be read: ")]);
});
