/** The examples that keep something in the session, make summaries, bring models, or lead to another session. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noUi } from "@tau/extensions";
import { createHost } from "@tau/harness/host";
import { AuthStorage } from "@tau/config/auth";
import { ModelRegistry } from "@tau/config/models";
import { SettingsManager } from "@tau/config/settings";
import { call, text, scriptedModel } from "@tau/harness/testing";
import { startWireServer } from "@tau/ai/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { createWorkspace, run, temporaryDirectory, textReply } from "../kit.ts";
import { examples, listResults, openExample } from "./kit.ts";

test("to-do list: steps are added and done, mistakes are told to the model, and a branch has the list of its own", async () => {
  const widgets: unknown[] = [];
  const notes: string[] = [];
  const ui = {
    setWidget: (_key: string, content: unknown) => void widgets.push(content),
    notify: (message: string) => void notes.push(message),
  };
  const opened = await openExample(
    "todo-list.ts",
    [
      [call("todo", { action: "add", text: "Read" })],
      [text("Noted.")],
      [call("todo", { action: "add", text: "Write" }), call("todo", { action: "done", number: 1 })],
      [call("todo", { action: "done", number: 7 })],
      [text("Done.")],
    ],
    { ui },
  );
  const { session, prompt } = opened;
  await prompt("Plan.");
  const leaf = session.sessionManager.getLeafId()!;
  expect(widgets.at(-1)).toEqual(["○ 1. Read"]);
  await prompt("Go on.");
  expect(listResults(opened).slice(-2)).toEqual([
    "✓ 1. Read\n○ 2. Write",
    expect.stringContaining("There is no step 7; the list has 2."),
  ]);
  expect(widgets.at(-1)).toEqual(["✓ 1. Read", "○ 2. Write"]);
  await session.navigate(leaf);
  expect(widgets.at(-1)).toEqual(["○ 1. Read"]);
  await session.submit("/todo");
  expect(notes).toEqual(["○ 1. Read"]);
});

test("git checkpoint: files go back to what they were before a prompt, and the branch stays as it is", async () => {
  const asked: string[][] = [];
  const notes: string[] = [];
  const select = async (_title: string, options: string[]) => {
    asked.push(options);
    return options.at(-1);
  };
  const opened = await openExample(
    "git-checkpoint.ts",
    [[call("write", { path: "new.txt", content: "B" })], [text("Done.")], [text("Yes.")]],
    { files: { "a.txt": "committed" }, ui: { select, notify: (message) => void notes.push(message) } },
  );
  const { cwd, session, prompt } = opened;
  const git = (...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
  await session.submit("/checkpoint");
  expect(notes).toEqual(["There is no checkpoint."]);
  git("init", "--quiet");
  git("add", ".");
  git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "one");
  git("config", "user.name", "A");
  git("config", "user.email", "a@example.com");
  const head = git("rev-parse", "HEAD");
  const path = join(cwd, "a.txt");
  writeFileSync(path, "by the user");
  await prompt("Change it.\nPlease.");
  writeFileSync(path, "by the model");
  await prompt("More?");
  await session.submit("/checkpoint");
  expect(asked).toEqual([["2. before: More?", "1. before: Change it."]]);
  expect(readFileSync(path, "utf8")).toBe("by the user");
  expect(readFileSync(join(cwd, "new.txt"), "utf8")).toBe("B");
  expect([git("rev-parse", "HEAD"), git("stash", "list")]).toEqual([head, ""]);
  const undo = /git (checkout \S+ -- \.)$/.exec(notes.at(-1)!)![1]!;
  git(...undo.split(" "));
  expect(readFileSync(path, "utf8")).toBe("by the model");
});

test("git checkpoint: a directory without a repository has none, and the run goes on", async () => {
  const { prompt, session } = await openExample("git-checkpoint.ts", [[text("Yes.")]]);
  expect(await prompt("Hello?")).toMatchObject({ kind: "ran" });
  expect(session.notices).toEqual([]);
});

test("summary on compaction: requests, files and the last answer are kept without asking a model", async () => {
  const notes: string[] = [];
  const long = "word ".repeat(3_000);
  const opened = await openExample(
    "summary-on-compaction.ts",
    [[call("read", { path: "a.txt" })], [text(`First answer. ${long}`)], [text(`Second answer. ${long}`)]],
    { files: { "a.txt": "A" }, ui: { notify: (message) => void notes.push(message) } },
  );
  await opened.prompt("Keep exactly this: 4711.");
  await opened.prompt(`And this. ${long}`);
  const outcome = await opened.session.compact();
  if (outcome.kind !== "compacted") throw new Error(outcome.kind);
  const { summary } = outcome.compaction;
  expect(summary).toContain("1. Keep exactly this: 4711.");
  expect(summary).toMatch(/## Files that were read\n- .*a\.txt/);
  expect(summary).toContain("## The last answer\nFirst answer.");
  expect(opened.model.left).toBe(0);
  expect(notes).toEqual(["The conversation was shortened without a model."]);
});

test("summary on compaction: with instructions, a model writes it", async () => {
  const long = "word ".repeat(3_000);
  const turns = [[text(long)], [text(long)], [text("Written by a model.")]];
  const opened = await openExample("summary-on-compaction.ts", turns);
  await opened.prompt("One.");
  await opened.prompt("Two.");
  const outcome = await opened.session.compact("Keep the numbers.");
  expect(JSON.stringify(outcome)).toContain("Written by a model.");
});

test("custom provider: its model answers, with the key and the header", async () => {
  const server = await startWireServer("openai-completions", [textReply("Hello from the lab.")]);
  onTestFinished(() => server.close());
  vi.stubEnv("LAB_URL", server.url);
  vi.stubEnv("LAB_KEY", "lab-key-0123456789");
  onTestFinished(() => void vi.unstubAllEnvs());
  const args = ["-e", join(examples, "custom-provider.ts"), "--model", "lab/coder", "-p", "Hello?"];
  const result = await run(await createWorkspace(), args);
  expect(result).toMatchObject({ code: 0, out: "Hello from the lab.\n", err: "" });
  const [request] = server.requests;
  expect(request?.headers).toMatchObject({ authorization: "Bearer lab-key-0123456789", "x-team": "search" });
});

test("side task: a session of its own does it, and the answer is a message in the first one", async () => {
  const directory = await temporaryDirectory();
  const agentDir = join(directory, "agent");
  const model = scriptedModel([[text("Hi.")], [text("It is 42.")], [text("Yes, 42.")]]);
  const host = createHost({
    agentDir,
    params: {
      cwd: directory,
      agentDir,
      settingsManager: SettingsManager.inMemory(),
      authStorage: AuthStorage.inMemory(),
      modelRegistry: ModelRegistry.inMemory(),
      model,
      watch: false,
      extensions: { paths: [join(examples, "side-task.ts")] },
    },
  });
  onTestFinished(async () => {
    await host.dispose();
    model.dispose();
  });
  const shown: string[] = [await host.create()];
  const [first] = shown as [string];
  const attach = async (id: string): Promise<void> => {
    await host.get(id).session.attachSurface({
      mode: "tui",
      ui: noUi,
      async show(next) {
        const left = shown.at(-1)!;
        shown.push(next);
        await host.close(left, { reason: "new" });
        await attach(next);
      },
    });
  };
  await attach(first);
  await host.get(first).run("Hello.", {});
  await host.get(first).submit("/side What is six times seven?", {});
  expect(shown).toHaveLength(3);
  expect(shown[1]).not.toBe(first);
  expect(shown[2]).toBe(first);
  expect(JSON.stringify(model.asked[1]?.context.messages)).not.toContain("Hello.");
  await host.get(first).run("Is it known now?", {});
  const asked = JSON.stringify(model.asked[2]?.context.messages);
  expect(asked).toContain("Hello.");
  expect(asked).toContain("Side task: What is six times seven?\\n\\nIt is 42.");
});
