import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeExtendedKeys, extendedKeysNotice } from "./extended-keys.ts";
import { countStart } from "./terminal-state.ts";

async function createDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-state-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** An environment in which tmux says this. */
async function createTmux(directory: string, script: string): Promise<Record<string, string>> {
  const bin = join(directory, "bin");
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, "tmux"), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, "tmux"), 0o755);
  return { TMUX: "/tmp/tmux,1,0", PATH: `${bin}:/usr/bin:/bin` };
}

test("ten starts are the first ones, and nothing is written after them", async () => {
  const agentDir = join(await createDirectory(), "agent");
  const starts: boolean[] = [];
  for (let index = 0; index < 12; index++) starts.push(await countStart(agentDir));
  expect(starts).toEqual([...Array.from({ length: 10 }, () => true), false, false]);
  expect(JSON.parse(await readFile(join(agentDir, "terminal-state.json"), "utf8"))).toMatchObject({ starts: 10 });
});

test.each(["", "no JSON", "null", "[]", '{"starts":"many"}'])("a damaged file counts as none: %j", async (content) => {
  const agentDir = await createDirectory();
  await writeFile(join(agentDir, "terminal-state.json"), content);
  expect(await countStart(agentDir)).toBe(true);
  expect(JSON.parse(await readFile(join(agentDir, "terminal-state.json"), "utf8"))).toMatchObject({ starts: 1 });
});

test("a directory that cannot be written keeps nobody from starting", async () => {
  const file = join(await createDirectory(), "file");
  await writeFile(file, "");
  expect(await countStart(join(file, "agent"))).toBe(true);
});

test("what to set in tmux is said once, and only where keys are missing", async () => {
  const agentDir = await createDirectory();
  const off = await createTmux(join(agentDir, "off"), 'test "$*" = "show-options -sv extended-keys" && echo off');
  const on = await createTmux(join(agentDir, "on"), "echo on");
  const broken = await createTmux(join(agentDir, "broken"), "echo off; exit 1");
  expect(await describeExtendedKeys(agentDir, { ...off, TMUX: "" })).toBeUndefined();
  expect(await describeExtendedKeys(agentDir, on)).toBeUndefined();
  expect(await describeExtendedKeys(agentDir, broken)).toBeUndefined();
  expect(await describeExtendedKeys(agentDir, off)).toBe(extendedKeysNotice);
  expect(await describeExtendedKeys(agentDir, off)).toBeUndefined();
  expect(extendedKeysNotice).toContain("set -s extended-keys on");
});
