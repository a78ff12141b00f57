import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { faultyFileSystem } from "@tau/tools/testing";
import { nodeFileSystem } from "@tau/tools/platform";
import { expect, onTestFinished, test } from "vitest";
import { formatFileProblem } from "../files/file-problem.ts";
import { contextDirectories, loadContextFiles, maxContextCharacters, maxContextFileBytes } from "./context-files.ts";

async function directory(files: Record<string, string | Buffer> = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "tau-context-"));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

/** Without what a machine may have above its temporary directory. */
const load = async (root: string, cwd: string, lastGood?: ReadonlyMap<string, { path: string; content: string }>) => {
  const directories = contextDirectories({ agentDir: join(root, "agent"), cwd: join(root, cwd) });
  const own = directories.filter((one) => one.startsWith(root));
  const request = { fileSystem: nodeFileSystem, directories: own, ...(lastGood && { lastGood }) };
  const { value, problems } = await loadContextFiles(request);
  const short = (path: string) => path.slice(root.length + 1);
  return { files: value.map(({ path, content }) => `${short(path)}: ${content}`), problems };
};

test("the agent directory comes first, then every directory from the root down to the working directory", () => {
  expect(contextDirectories({ agentDir: "/home/p/.tau", cwd: "/home/p/project" })).toEqual([
    "/home/p/.tau",
    "/",
    "/home",
    "/home/p",
    "/home/p/project",
  ]);
  expect(contextDirectories({ agentDir: "/home/p", cwd: "/home/p/project" })).toEqual([
    "/home/p",
    "/",
    "/home",
    "/home/p/project",
  ]);
  expect(contextDirectories({ agentDir: "/home/p/.tau" })).toEqual(["/home/p/.tau"]);
});

test("one file of each directory counts, the override before AGENTS.md before CLAUDE.md, and the nearest is last", async () => {
  const root = await directory({
    "agent/CLAUDE.md": "mine",
    "project/AGENTS.md": "all",
    "project/CLAUDE.md": "not read",
    "project/a/AGENTS.override.md": "instead",
    "project/a/AGENTS.md": "not read",
    "project/a/b/AGENTS.md": "\uFEFFnearest",
    "project/a/b/c/AGENTS.md": " \n",
    "project/other/AGENTS.md": "not on the way",
  });
  expect(await load(root, "project/a/b/c")).toEqual({
    files: [
      "agent/CLAUDE.md: mine",
      "project/AGENTS.md: all",
      "project/a/AGENTS.override.md: instead",
      "project/a/b/AGENTS.md: nearest",
    ],
    problems: [],
  });
});

test("a file that is not text is reported, and the next name is tried", async () => {
  const root = await directory({ "project/AGENTS.md": Buffer.from([1, 0, 2]), "project/CLAUDE.md": "instead" });
  await mkdir(join(root, "project/a/AGENTS.md"), { recursive: true });
  execFileSync("mkfifo", [join(root, "project/a/CLAUDE.md")]);
  const { files, problems } = await load(root, "project/a");
  expect(files).toEqual(["project/CLAUDE.md: instead"]);
  expect(problems.map((problem) => [problem.kind, formatFileProblem(problem).slice(root.length)])).toEqual([
    ["unreadable", "/project/AGENTS.md: This is not UTF-8 text. Save it as UTF-8, or remove it."],
    ["unreadable", "/project/a/AGENTS.md: This is a directory, not a file. Replace it by a text file."],
    ["unreadable", "/project/a/CLAUDE.md: This is a pipe, not a file. Replace it by a text file."],
  ]);
});

test("a link is followed out of the project to a file, never to a device, and each file is read once", async () => {
  const root = await directory({ "elsewhere/rules.md": "shared", "project/a/b/x": "" });
  await symlink(join(root, "elsewhere/rules.md"), join(root, "project/AGENTS.md"));
  await symlink(join(root, "elsewhere/rules.md"), join(root, "project/a/AGENTS.md"));
  await symlink("/dev/zero", join(root, "project/a/b/AGENTS.md"));
  const { files, problems } = await load(root, "project/a/b");
  expect(files).toEqual(["project/AGENTS.md: shared"]);
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("This is a device, not a file")]);
});

test("a large file is cut at the end of a line, and reported", async () => {
  const line = `${"ä".repeat(50)}\n`;
  const root = await directory({ "project/AGENTS.md": line.repeat(2_000) });
  const { files, problems } = await load(root, "project");
  const text = files[0]!.slice("project/AGENTS.md: ".length);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxContextFileBytes);
  expect(Buffer.byteLength(text)).toBeGreaterThan(maxContextFileBytes - 200);
  expect(text.length % line.length).toBe(0);
  expect(text).not.toContain("\uFFFD");
  expect(problems).toEqual([expect.objectContaining({ kind: "too_large", file: join(root, "project/AGENTS.md") })]);
});

test("a large file of one line is cut between two characters", async () => {
  const root = await directory({ "project/AGENTS.md": `x${"ä".repeat(maxContextFileBytes)}` });
  const { files } = await load(root, "project");
  expect(files[0]).toMatch(/^project\/AGENTS\.md: xä+$/);
});

test("a file that became a pipe after it was checked does not block", async () => {
  const root = await directory({ "project/plain": "" });
  execFileSync("mkfifo", [join(root, "project/AGENTS.md")]);
  const plain = await nodeFileSystem.stat(join(root, "project/plain"));
  const fileSystem = { ...nodeFileSystem, stat: () => Promise.resolve(plain) };
  const { value, problems } = await loadContextFiles({ fileSystem, directories: [join(root, "project")] });
  expect(value).toEqual([]);
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("This is a pipe")]);
});

test("if all together are too large, the nearest are kept", async () => {
  const names = ["1", "1/2", "1/2/3", "1/2/3/4", "1/2/3/4/5"];
  const text = "x".repeat(maxContextFileBytes);
  const root = await directory(Object.fromEntries(names.map((name) => [`${name}/AGENTS.md`, text])));
  const { files, problems } = await load(root, names.at(-1)!);
  expect(files.map((file) => file.split(":")[0])).toEqual(names.slice(1).map((name) => `${name}/AGENTS.md`));
  expect(problems.map(({ file }) => file)).toEqual([join(root, "1/AGENTS.md")]);
  expect(files.length * maxContextFileBytes).toBeLessThanOrEqual(maxContextCharacters);
});

test("a file that can no longer be read keeps its last content", async () => {
  const root = await directory({ "project/AGENTS.md": Buffer.from([0]) });
  const path = join(root, "project/AGENTS.md");
  const { files, problems } = await load(root, "project", new Map([[path, { path, content: "before" }]]));
  expect(files).toEqual(["project/AGENTS.md: before"]);
  expect(problems).toHaveLength(1);
});

test("no failing call to the disk makes it throw", async () => {
  const root = await directory({ "project/AGENTS.md": "text" });
  await chmod(join(root, "project/AGENTS.md"), 0o400);
  const clean = faultyFileSystem(nodeFileSystem);
  await loadContextFiles({ fileSystem: clean, directories: [join(root, "project")] });
  for (let at = 1; at <= clean.calls.length; at++) {
    const fileSystem = faultyFileSystem(nodeFileSystem, { at });
    const { problems } = await loadContextFiles({ fileSystem, directories: [join(root, "project")] });
    expect(problems).toEqual([expect.objectContaining({ kind: "unreadable" })]);
  }
});
