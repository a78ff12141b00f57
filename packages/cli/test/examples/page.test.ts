/** docs/extensions.md is true: its examples are compiled and run, and its tables have a row for each name in the code. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { SettingsManager } from "@tau/config/settings";
import { extensionEventNames, type ExtensionUi, type IncomingMessage, loadChannelType, noUi } from "@tau/extensions";
import { resolvePolicy } from "@tau/policy";
import { call, text } from "@tau/harness/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { createModelWorkspace, createWorkspace, run, temporaryDirectory, textReply } from "../kit.ts";
import { loadSharedModule } from "../../src/hosting/shared-modules.ts";
import { examples, listResults, openExtension } from "./kit.ts";
import "./page/testing.example.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/extensions.md"), "utf8");
const directory = join(import.meta.dirname, "page");
const open = (name: string, ...rest: Parameters<typeof openExtension> extends [string, ...infer Rest] ? Rest : never) =>
  openExtension(join(directory, `${name}.example.ts`), ...rest);

test("every TypeScript block of the page is one of the examples here, and each of them is on the page once", () => {
  const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));
  expect(blocks.toSorted()).toEqual(files.toSorted());
  expect(page).not.toMatch(/```(typescript|js|javascript)/);
});

const rowsUnder = (heading: string): string[][] => {
  const section = page.split(new RegExp(`\n##+ ${heading}\n`))[1]?.split(/\n##+ /)[0] ?? "";
  return [...section.matchAll(/^\| `(.*?)` +\|(.*)\|$/gm)].map(([, name, rest]) => [
    name!,
    ...rest!.split("|").map((cell) => cell.trim()),
  ]);
};

test("the tables of events have a row for each", () => {
  const names = [
    "About the session",
    "About a run",
    "About requests",
    "About messages and tools",
    "Never fired",
  ].flatMap((heading) => rowsUnder(heading).map(([name]) => name!));
  expect(names.toSorted()).toEqual([...extensionEventNames].toSorted());
});

test("the table of the interface has a row for each member", () => {
  const rows = rowsUnder("What the interface can do").flatMap(([name]) => name!.split(", "));
  expect(rows.toSorted()).toEqual(Object.keys(noUi satisfies ExtensionUi).toSorted());
});

test("the table of quotas has those of the profiles", () => {
  const format = (value: number | undefined) => (value === undefined ? "none" : String(value));
  const rows = ["safe", "balanced", "permissive"].map((profile) => {
    const { quota, maxMemoryMb } = resolvePolicy({ profile });
    const { callsPerSecond, callsPerMinute, processes, bytesWritten, requests } = quota;
    const megabytes = bytesWritten === undefined ? undefined : bytesWritten / 1024 / 1024;
    const limits = [callsPerSecond, callsPerMinute, processes, megabytes, requests, maxMemoryMb];
    return [profile, ...limits.map(format)];
  });
  expect(rowsUnder("Quotas")).toEqual(rows);
});

test("the table of examples names all of them", () => {
  const rows = [...page.matchAll(/^\| \[`([\w.-]+)`\]\(\.\.\/examples\/extensions\/\1\)/gm)].map(([, name]) => name!);
  expect(rows.toSorted()).toEqual(readdirSync(examples).toSorted());
});

test("the modules of the table can be imported, and the terminal library has all its names", async () => {
  const names = rowsUnder("Modules").flatMap(([name]) => name!);
  const lent = names.filter((name) => name.startsWith("@earendil-works/") || name === "@tau/tui");
  for (const name of lent) expect(Object.keys((await loadSharedModule(name))!)).not.toEqual([]);
  expect(lent).toHaveLength(9);
  const library = Object.keys(await import("@tau/tui"));
  expect(Object.keys((await loadSharedModule("@tau/tui"))!)).toEqual(expect.arrayContaining(library));
});

test("an extension that cannot be loaded is named with file and line, and the prompt is answered", async () => {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  const path = join(workspace.directory, "broken.ts");
  writeFileSync(path, "export default function () {\n  throw new Error('no luck');\n}\n");
  const { out, err, code } = await run(workspace, ["-e", path, "-p", "Hello?"]);
  expect({ out, err, code }).toEqual({ out: "Hello.\n", err: `tau: broken: ${path}:2: no luck\n`, code: 0 });
});

test("a tool: it reports, answers and fails", async () => {
  const turns = [[call("word_count", { path: "a.txt" })], [call("word_count", { path: "b.txt" })], [text("Done.")]];
  const opened = await open("tool", turns, { files: { "a.txt": "one two three", "b.txt": "" } });
  await opened.prompt("Count.");
  const results = listResults(opened);
  expect(results[0]).toBe("3 words");
  expect(results[1]).toContain("b.txt has no words.");
  expect(opened.session.systemPrompt).toContain("Use word_count instead of wc.");
});

test("a command: it completes, and what it sends begins a run", async () => {
  const opened = await open("command", [[text("One.")], [text("Two.")]], { scripted: { model: { reasoning: true } } });
  await opened.prompt("Well?");
  const complete = opened.session.extensions?.registrations.commands.get("think")?.definition.getArgumentCompletions;
  expect(await complete?.("h")).toEqual([{ value: "high", label: "high" }]);
  await opened.session.submit("/think high");
  await expect.poll(() => opened.model.left).toBe(0);
  await opened.session.waitForIdle();
  expect(opened.session.thinkingLevel).toBe("high");
});

test("a check of changed files: the model is told what is wrong with them", async () => {
  const write = (path: string, content: string) => [call("write", { path, content })];
  const turns = [
    write("good.sh", "echo hello\n"),
    write("bad.sh", "if then\n"),
    write("bad.txt", "if then\n"),
    [text("Done.")],
  ];
  const opened = await open("files-changed", turns);
  await opened.prompt("Write.");
  expect(listResults(opened).map((result) => result.includes("do not parse"))).toEqual([false, true, false]);
});

test("a mention: a note is sent with the prompt", async () => {
  const opened = await open("mention", [[text("Done.")]]);
  await opened.prompt("Do @note:todo");
  expect(JSON.stringify(opened.session.messages)).toContain("Water the plants.");
});

test("a shared object: it is the same in all sessions, as long as one of them is open", async () => {
  const said: string[] = [];
  const openNext = () => open("shared", [], { ui: { notify: (message) => void said.push(message) } });
  const first = await openNext();
  await first.session.submit("/count");
  await first.session.submit("/count");
  await first.session.dispose();
  await (await openNext()).session.submit("/count");
  expect(said).toEqual(["1", "2", "1"]);
});

test("a program: it is talked to over its pipes", async () => {
  const said: string[] = [];
  const { session } = await open("spawn", [], { ui: { notify: (message) => void said.push(message) } });
  await session.submit("/shout hello");
  await expect.poll(() => said).toEqual(["HELLO"]);
});

test("a child: it answers with tools of its own", async () => {
  const said: string[] = [];
  const { session, model } = await open("child", [[text("It adds.")]], {
    ui: { notify: (message) => void said.push(message) },
  });
  await session.submit("/explain sum.ts");
  await expect.poll(() => said).toEqual(["It adds."]);
  expect(model.asked[0]!.context.tools!.map(({ name }) => name)).toEqual(["read", "grep"]);
});

test("a shortcut: it writes into the editor", async () => {
  const pasted: string[] = [];
  const { session } = await open("shortcut", [], { ui: { pasteToEditor: (value) => void pasted.push(value) } });
  expect(await session.extensions?.runShortcut("ctrl+alt+d")).toBe(true);
  expect(pasted).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d$/)]);
});

test("a flag: its value is in the prompt", async () => {
  const opened = await open("flag", [[text("Oui.")]], { flags: new Map([["language", "French"]]) });
  await opened.prompt("Well?");
  expect(opened.model.asked[0]?.context.systemPrompt).toMatch(/Answer in French\.$/);
  const workspace = await createWorkspace();
  const { err } = await run(workspace, ["-e", join(directory, "flag.example.ts"), "--langage", "x", "-p", "Well?"]);
  expect(err).toContain("--langage");
});

test("a guard: it changes and blocks calls, and answers for the user's commands", async () => {
  const turns = [[call("bash", { command: "echo CI is $CI" })], [text("Done.")]];
  const opened = await open("guard", turns, { settings: { sandbox: { mode: "off" } } });
  await opened.prompt("Go.");
  expect(listResults(opened)[0]).toContain("CI is 1");
  expect(await opened.session.executeBash("sudo reboot")).toMatchObject({ output: "Not here.\n", exitCode: 1 });
});

test("changes: input, results and messages", async () => {
  const notes: string[] = [];
  const turns = [[call("read", { path: "a.txt" })], [text("Certainly! It is this.")]];
  const opened = await open("change", turns, {
    files: { "a.txt": "card 1234567890123456" },
    ui: { notify: (message) => void notes.push(message) },
  });
  expect(await opened.session.submit("ping")).toEqual({ disposition: "handled" });
  await opened.prompt("? What is in it");
  expect(notes).toEqual(["pong"]);
  expect(opened.transcript()).toEqual(
    expect.arrayContaining([
      "user: Answer in one sentence: What is in it",
      "result read: card (a number)",
      "assistant: It is this.",
    ]),
  );
});

test("boundary: the model gets another turn until the tests pass, three times at most", async () => {
  const fix = "exit 0";
  const turns = [[text("Done.")], [call("write", { path: "fixed", content: fix })], [text("Now it is.")]];
  const files = { "test.sh": "echo one failed; test -e fixed" };
  const opened = await open("boundary", turns, { files });
  await opened.prompt("Fix it.");
  expect(JSON.stringify(opened.model.asked[1]?.context.messages)).toContain("The tests fail:\\none failed");
  expect(opened.model.left).toBe(0);
  const stubborn = await open(
    "boundary",
    Array.from({ length: 4 }, () => [text("Done.")]),
    { files },
  );
  await stubborn.prompt("Fix it.");
  expect(stubborn.model.left).toBe(0);
});

test("dialogs: what was answered is sent, and Escape sends nothing", async () => {
  const notes: string[] = [];
  let isSure = false;
  const ui = {
    select: async (_title: string, options: string[]) => options[0],
    input: async () => "It stops",
    editor: async (_title: string, prefill = "") => `${prefill}It stopped.`,
    confirm: async () => isSure,
    notify: (message: string) => void notes.push(message),
  };
  const opened = await open("dialogs", [[text("Written.")]], { ui });
  await opened.session.submit("/report");
  expect(notes).toEqual(["Nothing is sent."]);
  isSure = true;
  await opened.session.submit("/report");
  await expect.poll(() => opened.model.left).toBe(0);
  await opened.session.waitForIdle();
  expect(opened.transcript()[0]).toContain("Write an issue about a defect: It stops");
});

test("a provider: its models are those of the server; without a server there are none", async () => {
  const server = createServer((_request, response) => response.end(JSON.stringify({ data: [{ id: "attic" }] })));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  vi.stubEnv("HOUSE_URL", `http://127.0.0.1:${port}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { session } = await open("provider", []);
  expect(session.modelRegistry.find("house", "attic")).toMatchObject({ contextWindow: 32_768 });
  vi.stubEnv("HOUSE_URL", "http://127.0.0.1:1");
  const without = await open("provider", []);
  expect(without.session.modelRegistry.find("house", "attic")).toBeUndefined();
});

test("channel: messages of a board reach the gateway, and answers the board", async () => {
  const posts: string[] = [];
  const server = createServer((request, response) => {
    if (request.headers.authorization !== "Bearer secret") return void response.writeHead(401).end();
    if (request.url === "/next") {
      // The second request waits for somebody to write.
      if (posts.push("asked") > 1) return;
      return void response.end(JSON.stringify({ id: "1", room: "hall", person: "ann", text: "Hi" }));
    }
    request.setEncoding("utf8").on("data", (chunk: string) => posts.push(chunk));
    request.on("end", () => response.end("post 7"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const agentDir = await temporaryDirectory();
  const settings = SettingsManager.inMemory({});
  const params = { paths: [join(directory, "channel.example.ts")], loadShared: loadSharedModule };
  const loaded = (await loadChannelType("board", params, { cwd: agentDir, agentDir, settings, report: () => {} }))!;
  onTestFinished(() => loaded.close());
  const channel = await loaded.type.open({
    accountId: "hall",
    settings: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    getSecret: async () => "secret",
    clock: systemClock,
    log: () => {},
  });
  const closing = new AbortController();
  const texts: string[] = [];
  const onMessage = async (message: IncomingMessage) => void texts.push(message.text);
  const running = channel.run({ onMessage, onPress: async () => {}, onState: () => {} }, closing.signal);
  await expect.poll(() => texts).toEqual(["Hi"]);
  const delivery = await channel.send({ address: { channelId: "hall" }, text: "Hello.", nonce: "n" });
  expect(delivery).toEqual({ kind: "sent", messageId: "post 7" });
  // The channel may have asked again meanwhile.
  expect(posts).toContain('{"room":"hall","text":"Hello."}');
  closing.abort();
  await running.catch(() => {});
});

test("virtual-models: it can be selected, and chooses a model of Anthropic", async () => {
  const { session, until } = await open("virtual-models", []);
  await session.setModel("router/auto:high");
  expect(session.thinkingLevel).toBe("high");
  const outcome = await session.prompt("Hi");
  // There is no key here, and what is missing names the model that was chosen.
  expect(outcome).toMatchObject({
    failure: { message: expect.stringContaining("no key for anthropic/claude-opus-4-5") },
  });
  expect((await until("agent_end")).terminationReason).toBe("error");
});

test("resources: skills and prompts beside the extension are found", async () => {
  const workspace = await createWorkspace();
  const root = join(workspace.directory, "ours");
  for (const name of ["skills/sums", "prompts"]) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "skills/sums/SKILL.md"), "---\nname: sums\ndescription: How to add\n---\nAdd.");
  writeFileSync(join(root, "prompts/tidy.md"), "Tidy up.");
  writeFileSync(join(root, "index.ts"), readFileSync(join(directory, "resources.example.ts")));
  const opened = await openExtension(root, [[text("Tidied.")]]);
  await opened.prompt("/tidy");
  expect(opened.transcript()[0]).toBe("user: Tidy up.");
  expect(opened.session.systemPrompt).toContain("How to add");
});

test("context: what is kept, and what is only sent", async () => {
  const opened = await open("context", [[text("I see.")]], { files: { "NOTES.md": "Be brief." } });
  await opened.prompt("Well?");
  expect(JSON.stringify(opened.model.asked[0]?.context.messages)).toContain("Our notes:\\nBe brief.");
  expect(JSON.stringify(opened.session.messages)).not.toContain("Be brief.");
});

test("an object: its tool and its hooks run", async () => {
  const path = join(await temporaryDirectory(), "a.txt");
  writeFileSync(path, "one\ntwo\n");
  const opened = await open("object", [[call("line_count", { path })], [text("Two.")]]);
  await opened.prompt("Count.");
  expect(listResults(opened)).toEqual(["2 lines"]);
});
