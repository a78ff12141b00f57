/** Directories that a person adds to the workspace of an open session. */
import { mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import type { Question } from "@tau/policy";
import { findProgram } from "@tau/sandbox/internal";
import { writeTrust } from "@tau/config/trust";
import { systemIds } from "@tau/ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { SettingsManager } from "@tau/config/settings";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type DeskOptions, openDesk, temporaryDirectory } from "./desk.ts";

const hasBwrap = findProgram("bwrap", "/nowhere") !== undefined;
type Turns = Parameters<typeof openDesk>[0];

/** A workspace, and directories beside it that are not below the directory for temporary files. */
async function createPlaces() {
  const root = await temporaryDirectory();
  const [cwd = "", agentDir = "", home = "", data = "", other = ""] = ["work", "agent", "home", "data", "other"].map(
    (name) => join(root, name),
  );
  vi.stubEnv("TMPDIR", join(root, "tmp"));
  vi.stubEnv("HOME", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const path of [cwd, agentDir, home, data, other, join(root, "tmp")]) await mkdir(path);
  await writeFile(join(data, "a.txt"), "apples\n");
  await writeFile(join(other, "a.txt"), "pears\n");
  return { root, cwd, agentDir, home, data, other };
}

type Places = Awaited<ReturnType<typeof createPlaces>>;

/** A session whose questions a person answers with no. */
async function open(turns: Turns, { cwd, agentDir }: Places, options: DeskOptions = {}) {
  const questions: Question[] = [];
  const ask = async (question: Question) => {
    questions.push(question);
    return { decision: "deny" } as const;
  };
  const desk = await openDesk(turns, { cwd, agentDir, ask, ...options });
  const results = () =>
    desk.session.messages.flatMap((message) =>
      message.role === "toolResult" ? message.content.map((block) => (block.type === "text" ? block.text : "")) : [],
    );
  return { ...desk, questions, results };
}

const read = (path: string) => [call("read", { path })];
const write = (path: string, content = "new\n") => [call("write", { path, content })];
const bash = (command: string) => [call("bash", { command })];
const done = [text("Done.")];

test("tools read and write there without a question from the next call on, and it is text of the project", async () => {
  const places = await createPlaces();
  const file = join(places.data, "a.txt");
  const turns = [read(file), done, read(file), write(join(places.data, "new.txt")), done];
  const { session, questions, results } = await open(turns, places, { sandbox: { mode: "off" } });
  await session.prompt("go");
  expect(questions).toHaveLength(1);
  const added = await session.addDirectory("../data");
  expect(added).toEqual({ path: places.data, directories: [places.data] });
  await session.prompt("on");
  expect(questions).toHaveLength(1);
  expect(results().slice(1).join()).toContain("apples");
  expect(await readFile(join(places.data, "new.txt"), "utf8")).toBe("new\n");
  expect(
    session.messages.some((message) => message.role === "custom" && String(message.content).includes(places.data)),
  ).toBe(true);
  expect(await session.addDirectory(join(places.data, "."))).toEqual(added);
});

test("protected names keep their rules there", async () => {
  const places = await createPlaces();
  const hook = join(places.data, ".git", "hooks", "pre-commit");
  await mkdir(join(places.data, ".git", "hooks"), { recursive: true });
  const turns = [write(hook), done];
  const { session, questions } = await open(turns, places, { sandbox: { mode: "off" } });
  await session.addDirectory(places.data);
  await session.prompt("go");
  expect(questions.map(({ request }) => request.target)).toEqual([{ kind: "path", path: hook }]);
  await expect(readFile(hook)).rejects.toThrow("ENOENT");
});

test.each([
  ["/", "it contains everything on this machine"],
  ["~", "it is your home directory"],
  ["..", "it contains your home directory"],
  ["../agent", "tau's own settings, keys and sessions"],
  ["../agent/sessions", "tau's own settings, keys and sessions"],
  ["~/.ssh", "credentials are kept there"],
  ["~/.config", "programs keep logins in it"],
  ["../link-to-home", "it is your home directory"],
  ["/proc/self", "it shows processes and devices"],
  ["../nothing", "There is no directory"],
  ["../data/a.txt", "is not a directory"],
])("%s is refused: %s", async (path, reason) => {
  const places = await createPlaces();
  await mkdir(join(places.agentDir, "sessions"), { recursive: true });
  for (const name of [".ssh", ".config"]) await mkdir(join(places.home, name));
  await symlink(places.home, join(places.root, "link-to-home"));
  const { session } = await open([], places);
  await expect(session.addDirectory(path)).rejects.toThrow(reason);
  expect(session.addedDirectories).toEqual([]);
});

test("at the start a refused directory of the parameters is an error, and one of the settings a notice", async () => {
  const places = await createPlaces();
  await expect(open([], places, { additionalDirectories: ["/"] })).rejects.toThrow("everything");
  const settings = { additionalDirectories: [places.home, places.data] };
  const { session } = await open([], places, { settings });
  expect(session.addedDirectories).toEqual([places.data]);
  expect(session.notices.map(({ message }) => message).join()).toContain(
    "The setting additionalDirectories: " + places.home,
  );
});

test("without a person and in a child nothing is added; a child has what its parent had at its start", async () => {
  const places = await createPlaces();
  const { cwd, agentDir } = places;
  const alone = await openDesk([], { cwd, agentDir });
  await expect(alone.session.addDirectory(places.data)).rejects.toThrow("--add-dir PATH");
  const { session } = await open([], { ...places, cwd: places.other });
  await session.addDirectory(places.data);
  const child = await session.openChild({ name: "task" });
  onTestFinished(() => child.dispose());
  expect(child.addedDirectories).toEqual([places.data]);
  await expect(child.addDirectory(places.cwd)).rejects.toThrow("Add the directory to that one");
});

test("a session that is opened again has none of them, and says how to add them; so has one from a copied log", async () => {
  const places = await createPlaces();
  const file = join(places.data, "a.txt");
  const first = await open([done], places);
  await first.session.prompt("go");
  await first.session.addDirectory(places.data);
  const path = first.session.sessionFile!;
  await first.session.dispose();
  const { session, questions } = await open([read(file), done], places, {
    sessionManager: await SessionManager.open(path),
  });
  expect(session.addedDirectories).toEqual([]);
  expect(session.notices.map(({ message }) => message)).toContain(
    `Directories that were added to the workspace are not part of it any more. To add them again: /add-dir ${places.data}`,
  );
  await session.prompt("go");
  expect(questions).toHaveLength(1);
});

test("a directory that a link replaces gives nothing of what the link leads to", async () => {
  const places = await createPlaces();
  const file = join(places.data, "a.txt");
  const turns = [read(file), write(join(places.data, "new.txt")), done];
  const { session, questions, results } = await open(turns, places, { sandbox: { mode: "off" } });
  await session.addDirectory(places.data);
  await rename(places.data, `${places.data}-before`);
  await symlink(places.other, places.data);
  await session.prompt("go");
  expect(questions.map(({ request }) => request.target)).toEqual([
    { kind: "path", path: join(places.other, "a.txt") },
    { kind: "path", path: join(places.other, "new.txt") },
  ]);
  expect(results().join()).not.toContain("pears");
  await expect(readFile(join(places.other, "new.txt"))).rejects.toThrow("ENOENT");
});

test.each([["added while it is open"], ["given at the start"]])(
  "commands in the sandbox write in a directory that was %s, and nowhere else after a link took its place",
  async (when) => {
    if (!hasBwrap) return console.log("skipped: bubblewrap is not installed");
    const places = await createPlaces();
    const { data, other } = places;
    const turns = [
      bash(`echo 1 >${data}/one.txt; echo 2 >${other}/two.txt`),
      done,
      bash(`echo 3 >${data}/three.txt; ls ${data}`),
      done,
    ];
    const isLive = when.startsWith("added");
    const options = { settings: { sandbox: { mode: "required" } } } as const;
    const start = isLive ? options : { ...options, additionalDirectories: [data] };
    const { session } = await open(turns, places, start);
    if (isLive) await session.addDirectory(data);
    await session.prompt("go");
    expect(await readFile(join(data, "one.txt"), "utf8")).toBe("1\n");
    await expect(readFile(join(other, "two.txt"))).rejects.toThrow("ENOENT");
    await rename(data, `${data}-before`);
    await symlink(other, data);
    await session.prompt("on");
    await expect(readFile(join(other, "three.txt"))).rejects.toThrow("ENOENT");
  },
);

test("instructions there come with the first call there, once the directory is trusted", async () => {
  const places = await createPlaces();
  const { agentDir, data } = places;
  await writeFile(join(data, "AGENTS.md"), "Rules of the data.");
  await mkdir(join(data, "sub"));
  await writeFile(join(data, "sub", "CLAUDE.md"), "Rules of the sub-directory.");
  await writeFile(join(data, "sub", "b.txt"), "b");
  const settingsManager = SettingsManager.inMemory({});
  const openWith = () => open([read(join(data, "sub", "b.txt")), done], places, { settingsManager });
  const untrusted = await openWith();
  const instructions = { path: join(data, "AGENTS.md"), trusted: false };
  expect(await untrusted.session.addDirectory(data)).toMatchObject({ instructions });
  await untrusted.session.prompt("go");
  expect(untrusted.results().join()).not.toContain("Rules");
  await untrusted.session.dispose();
  await writeTrust({ agentDir, cwd: data, ids: systemIds }, true);
  const trusted = await openWith();
  expect(await trusted.session.addDirectory(data)).toMatchObject({ instructions: { ...instructions, trusted: true } });
  await trusted.session.prompt("go");
  expect(trusted.results().join()).toMatch(/Rules of the data\.[^]*Rules of the sub-directory\./);
});
