/** `change_files` in real sessions: who can call it, what is judged and seen of it, and what a killed session left. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import type { ExtensionFactory, Feature, FeatureTool, ToolCallOutcome } from "@tau/extensions";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";

const tool: FeatureTool = {
  name: "rename_all",
  category: "code",
  label: "Rename",
  description: "Rename.",
  parameters: Type.Object({}),
  access: () => [],
};

const args = {
  changes: [
    { path: "a.txt", edits: [{ start: 0, end: 1, text: "A" }] },
    { path: "b.txt", edits: [{ start: 0, end: 1, text: "B" }] },
  ],
  reason: "Rename a to A",
};

/** A tool that calls `change_files`, as a feature and as an extension. */
function createRenamer(outcomes: ToolCallOutcome[], changes: unknown = args) {
  const factory: ExtensionFactory = (tau) =>
    tau.registerTool({
      ...tool,
      async execute(_id, _args, _signal, _onUpdate, context) {
        outcomes.push(await context.executeTool("change_files", changes));
        return { content: [text("done")], details: {} };
      },
    });
  const feature: Feature = { name: "rename", summary: "Renames.", tools: [tool], load: async () => factory };
  return { factory, feature };
}

async function open(params: TestSessionParams, called = "rename_all", input: object = {}) {
  const files = { "a.txt": "a", "b.txt": "b" };
  const opened = await createTestSession([[call(called, input)], [text("Done.")]], { files, ...params });
  onTestFinished(() => opened.dispose());
  return opened;
}

test("a tool of a feature changes files with it, which is judged, recorded and followed like a call of the model", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const changed: unknown[] = [];
  const follow: ExtensionFactory = (tau) => void tau.on("files_changed", ({ paths }) => void changed.push(paths));
  const extensions = { factories: [follow] };
  const opened = await open({ features: [createRenamer(outcomes).feature], extensions });
  const { cwd } = opened.session;
  await opened.prompt("go");
  expect(outcomes).toMatchObject([
    { isError: false, result: { details: { files: [{ kind: "changed" }, { kind: "changed" }] } } },
  ]);
  expect([readFileSync(join(cwd, "a.txt"), "utf8"), readFileSync(join(cwd, "b.txt"), "utf8")]).toEqual(["A", "B"]);
  expect(changed).toEqual([[join(cwd, "a.txt"), join(cwd, "b.txt")]]);
  expect(JSON.stringify(opened.model.asked)).not.toContain("change_files");
});

test("a file outside of the workspace is denied, and no other file is changed", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const changes = { ...args, changes: [...args.changes, { path: "/etc/tau-test.conf", content: "x" }] };
  const opened = await open({ features: [createRenamer(outcomes, changes).feature] });
  await opened.prompt("go");
  expect(outcomes[0]).toMatchObject({ isError: true });
  expect(readFileSync(join(opened.session.cwd, "a.txt"), "utf8")).toBe("a");
});

test("in a list of allowed tools that has the tool of the feature, it works too", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const opened = await open({ features: [createRenamer(outcomes).feature], allowedTools: ["rename_all"] });
  await opened.prompt("go");
  expect(outcomes).toMatchObject([{ isError: false }]);
});

test("neither a model nor an extension can call it", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const byModel = await open({}, "change_files", args);
  await byModel.prompt("go");
  const byExtension = await open({ extensions: { factories: [createRenamer(outcomes).factory] } });
  await byExtension.prompt("go");
  expect(outcomes).toMatchObject([{ isError: true, errorCode: "unknown_tool" }]);
  for (const { session } of [byModel, byExtension]) expect(readFileSync(join(session.cwd, "a.txt"), "utf8")).toBe("a");
});

test("a session that opens takes back the change of a killed process, and says so", async () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-changes-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "a.txt");
  writeFileSync(path, "new");
  const hash = (content: string) => createHash("sha256").update(content).digest("hex");
  const steps = [{ kind: "write", path, before: 3, after: { size: 3, sha256: hash("new") } }];
  const rest = `${JSON.stringify(steps)}\nold`;
  mkdirSync(join(directory, "agent/changes"), { recursive: true });
  writeFileSync(join(directory, "agent/changes/.tau-4194305.1..-id.tmp"), `tau-changes 1 ${hash(rest)}\n${rest}`);
  // Its name does not say where the process runs, so only its age tells that it is not in use.
  utimesSync(join(directory, "agent/changes/.tau-4194305.1..-id.tmp"), 1, 1);
  const opened = await open({ agentDir: join(directory, "agent") });
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(opened.session.notices).toMatchObject([{ code: "recovered", message: expect.stringContaining(path) }]);
});
