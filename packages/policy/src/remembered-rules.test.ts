import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { createMemoryStorage } from "@tau/tools/storage";
import { expect, onTestFinished, test } from "vitest";
import { createRememberedRules, formatRule, listRules } from "./remembered-rules.ts";

function open(cwd = "/projects/a") {
  const agentDir = mkdtempSync(join(tmpdir(), "tau-rules-"));
  onTestFinished(() => rmSync(agentDir, { recursive: true, force: true }));
  let last = 0;
  const ids = () => `1d${String(++last).padStart(6, "0")}-0000-4000-8000-000000000000`;
  const create = (directory: string) => createRememberedRules({ agentDir, cwd: directory, ids });
  return { agentDir, rules: create(cwd), create };
}

const path = (value: string) => ({ kind: "path", path: value }) as const;

test("what was allowed always counts in every project, also for a later process", async () => {
  const { rules, create } = open();
  expect(await rules.covers("read", path("/notes/a.txt"))).toBe(false);
  await rules.add("always", { capability: "read", target: path("/notes") });
  expect(await rules.covers("read", path("/notes/a.txt"))).toBe(true);
  expect(await create("/projects/b").covers("read", path("/notes/a.txt"))).toBe(true);
  expect(await rules.covers("write", path("/notes/a.txt"))).toBe(false);
  expect(await rules.covers("read", path("/notes-of-others"))).toBe(false);
});

test("what was allowed for a project counts there alone", async () => {
  const { rules, create } = open();
  await rules.add("project", { capability: "write", target: path("/notes/a.txt") });
  expect(await rules.covers("write", path("/notes/a.txt"))).toBe(true);
  expect(await create("/projects/b").covers("write", path("/notes/a.txt"))).toBe(false);
});

test("several rules are kept, in a file that only its owner may read", async () => {
  const { agentDir, rules } = open();
  await rules.add("always", { capability: "read", target: path("/one") });
  await rules.add("always", { capability: "exec", target: { kind: "command", command: "make" } });
  expect(await rules.covers("read", path("/one"))).toBe(true);
  expect(await rules.covers("exec", { kind: "command", command: "make" })).toBe(true);
  expect(await rules.covers("exec", { kind: "command", command: "make install" })).toBe(false);
  expect(statSync(join(agentDir, "approvals.json")).mode & 0o777).toBe(0o600);
});

test("rules that are added at the same moment are all kept", async () => {
  const { rules, create } = open();
  const others = ["/one", "/two", "/three"].map((value) =>
    create("/projects/b").add("always", { capability: "read", target: path(value) }),
  );
  await Promise.all([rules.add("always", { capability: "read", target: path("/four") }), ...others]);
  for (const value of ["/one", "/two", "/three", "/four"]) expect(await rules.covers("read", path(value))).toBe(true);
});

test.each([
  ["no JSON", "{"],
  ["a list", "[]"],
  ["a rule without a target", '{"rules":[{"capability":"read"}]}'],
  ["a rule for an unknown capability", '{"rules":[{"capability":"all","target":{"kind":"path","path":"/"}}]}'],
  ["a rule whose path is no string", '{"rules":[{"capability":"read","target":{"kind":"path","path":1}}]}'],
])("a damaged file allows nothing: %s", async (_name, content) => {
  const { agentDir, rules } = open();
  writeFileSync(join(agentDir, "approvals.json"), content);
  expect(await rules.covers("read", path("/x"))).toBe(false);
});

test("a file that the system does not let us read allows nothing", async () => {
  const { agentDir, rules } = open();
  mkdirSync(join(agentDir, "approvals.json"));
  expect(await rules.covers("read", path("/x"))).toBe(false);
  const listed = listRules({ agentDir, cwd: "/projects/a" });
  await expect(listed).rejects.toThrow(`${join(agentDir, "approvals.json")} could not be read (EISDIR).`);
});

test("a file that cannot be parsed is kept as it is, so that a typing mistake does not cost the rules in it", async () => {
  const { agentDir, rules } = open();
  const file = join(agentDir, "approvals.json");
  await rules.add("always", { capability: "read", target: path("/notes") });
  const content = `${readFileSync(file, "utf8")},`;
  writeFileSync(file, content);
  const added = rules.add("always", { capability: "read", target: path("/more") });
  await expect(added).rejects.toMatchObject({ code: "write_failed", message: expect.stringContaining(file) });
  expect(readFileSync(file, "utf8")).toBe(content);
});

test("a rule reads as a person would say it", () => {
  expect(formatRule({ capability: "read", target: path("/notes") })).toBe("read /notes");
  expect(formatRule({ capability: "http", target: { kind: "host", host: "example.org" } })).toBe("http example.org");
  expect(formatRule({ capability: "exec", target: { kind: "command", command: "make" } })).toBe("exec make");
  expect(formatRule({ capability: "tool", target: { kind: "name", name: "deploy" } })).toBe("tool deploy");
});

test("rules in a storage count for each process with that storage, and are no file", async () => {
  const { agentDir } = open();
  const storage = createMemoryStorage();
  const create = () => createRememberedRules({ agentDir, cwd: "/projects/a", ids: systemIds, storage });
  await Promise.all(
    ["/one", "/two", "/three"].map((each) => create().add("always", { capability: "read", target: path(each) })),
  );
  for (const each of ["/one", "/two", "/three"]) expect(await create().covers("read", path(each))).toBe(true);
  expect(existsSync(join(agentDir, "approvals.json"))).toBe(false);
  expect(await listRules({ agentDir, cwd: "/projects/a" })).toEqual([]);
});
