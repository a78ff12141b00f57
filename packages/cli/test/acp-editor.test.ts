/** The file system and the terminals of an editor, behind the policy. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { findProgram } from "@tau/sandbox/internal";
import { createFiles } from "@tau/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { Connection } from "../src/json-rpc/connection.ts";
import { createEditorFiles, mergeBuffer } from "../src/acp/editor-files.ts";
import { listChanges } from "../src/acp/editor-terminal.ts";
import { type AcpOptions, connectClient, initialize, joinText, listUpdates, newSession, prompt } from "./acp-kit.ts";
import type { ClientApp, TerminalRequest } from "./acp-sdk.ts";
import { createModelWorkspace, type ModelWorkspace, temporaryDirectory, textReply, toolReply } from "./kit.ts";

/** An editor with unsaved texts, by path. */
class Editor {
  readonly unsaved = new Map<string, string>();
  readonly reads: string[] = [];
  readonly writes: { path: string; content: string }[] = [];
  /** Whether it writes to the disk what it is given. */
  saves = true;

  handle(app: ClientApp): void {
    app.onRequest("fs/read_text_file", async ({ params: { path } }) => {
      this.reads.push(path);
      return { content: this.unsaved.get(path) ?? (await readFile(path, "utf8")) };
    });
    app.onRequest("fs/write_text_file", async ({ params: { path, content } }) => {
      this.writes.push({ path, content });
      if (this.saves) {
        this.unsaved.delete(path);
        await writeFile(path, content);
      } else this.unsaved.set(path, content);
      return {};
    });
  }
}

const fs = { readTextFile: true, writeTextFile: true };

async function open(workspace: ModelWorkspace, editor: Editor, capabilities: object = { fs }) {
  const client = connectClient(workspace, (app) => editor.handle(app));
  await initialize(client.agent, capabilities);
  const { sessionId } = await newSession(client.agent, workspace);
  return { ...client, say: (text: string) => prompt(client.agent, sessionId, text) };
}

const getSent = ({ server }: ModelWorkspace) => JSON.stringify(server.requests.at(-1)?.body);

describe("files of the editor", () => {
  test("an unsaved text is what the model reads, also where a prompt mentions it", async () => {
    const workspace = await createModelWorkspace([
      toolReply("read", { path: "a.txt" }),
      textReply("One."),
      textReply("Two."),
    ]);
    const path = join(workspace.directory, "a.txt");
    await writeFile(path, "saved\n");
    const editor = new Editor();
    editor.unsaved.set(path, "not saved yet\n");
    const { say } = await open(workspace, editor);
    await say("Read it.");
    expect(getSent(workspace)).toContain("not saved yet");
    editor.unsaved.set(path, "newer still\n");
    await say("See @a.txt");
    expect(getSent(workspace)).toContain("newer still");
    expect(await readFile(path, "utf8")).toBe("saved\n");
  });

  test.each([true, false])(
    "an edit changes the unsaved text, and is on the disk if the editor saves: %s",
    async (saves) => {
      const edit = { path: "a.txt", edits: [{ oldText: "pears", newText: "apples" }] };
      const workspace = await createModelWorkspace([toolReply("edit", edit), textReply("Done.")]);
      const path = join(workspace.directory, "a.txt");
      await writeFile(path, "one\n");
      const editor = new Editor();
      editor.saves = saves;
      editor.unsaved.set(path, "one\npears\n");
      const { say, updates } = await open(workspace, editor);
      await say("Change it.");
      expect(editor.writes).toEqual([{ path, content: "one\napples\n" }]);
      expect(await readFile(path, "utf8")).toBe("one\napples\n");
      expect(listUpdates(updates, "tool_call_update").filter(({ status }) => status === "failed")).toEqual([]);
    },
  );

  test("a new file is written without the editor", async () => {
    const workspace = await createModelWorkspace([
      toolReply("write", { path: "new.txt", content: "x\n" }),
      textReply("Done."),
    ]);
    const editor = new Editor();
    const { say } = await open(workspace, editor);
    await say("Write it.");
    expect(editor.writes).toEqual([]);
    expect(await readFile(join(workspace.directory, "new.txt"), "utf8")).toBe("x\n");
  });

  test("a text that the person goes on writing is not replaced by the model", async () => {
    const write = toolReply("write", { path: "a.txt", content: "mine\n" });
    const workspace = await createModelWorkspace([
      toolReply("read", { path: "a.txt" }),
      textReply("Read."),
      write,
      textReply("Oh."),
    ]);
    const path = join(workspace.directory, "a.txt");
    await writeFile(path, "saved\n");
    const editor = new Editor();
    const { say, updates } = await open(workspace, editor);
    await say("Read it.");
    editor.unsaved.set(path, "saved\nand a thought\n");
    await say("Replace it.");
    expect(JSON.stringify(listUpdates(updates, "tool_call_update").at(-1))).toContain("unsaved changes in the editor");
    expect(editor.unsaved.get(path)).toBe("saved\nand a thought\n");
    expect(await readFile(path, "utf8")).toBe("saved\n");
  });

  test("while a command runs in the background, tau writes itself", async () => {
    const workspace = await createModelWorkspace([
      toolReply("bash", { command: "sleep 60", background: true }),
      toolReply("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] }),
      textReply("Done."),
    ]);
    const path = join(workspace.directory, "a.txt");
    await writeFile(path, "one\n");
    const editor = new Editor();
    const { say } = await open(workspace, editor);
    await say("Change it.");
    expect(editor.writes).toEqual([]);
    expect(await readFile(path, "utf8")).toBe("two\n");
  });

  test("the policy comes first: a link that leads out of the workspace is not asked for", async () => {
    const workspace = await createModelWorkspace([
      toolReply("read", { path: "link" }),
      toolReply("write", { path: "link", content: "x" }),
      textReply("Then not."),
    ]);
    await symlink("/etc/hostname", join(workspace.directory, "link"));
    const editor = new Editor();
    const { say, updates } = await open(workspace, editor);
    // Nobody answers permission requests, so both calls are denied.
    await say("Try it.");
    expect([editor.reads, editor.writes]).toEqual([[], []]);
    expect(listUpdates(updates, "tool_call_update").filter(({ status }) => status === "failed")).toHaveLength(2);
  });

  test("without the capability nothing is asked", async () => {
    const workspace = await createModelWorkspace([toolReply("read", { path: "a.txt" }), textReply("Read.")]);
    await writeFile(join(workspace.directory, "a.txt"), "saved\n");
    const editor = new Editor();
    const { say } = await open(workspace, editor, {});
    await say("Read it.");
    expect(editor.reads).toEqual([]);
  });

  test("an editor that does not answer is not asked again, and the disk is used", async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, "a.txt");
    await writeFile(path, "saved\n");
    const [lines, reports]: [string[], string[]] = [[], []];
    const files = createEditorFiles({
      connection: new Connection((line) => lines.push(line)),
      client: fs,
      getSessionId: () => "s",
      roots: [directory],
      hasBackgroundWork: () => false,
      report: (message) => reports.push(message),
      limitMs: 5,
    })(createFiles());
    for (let turn = 0; turn < 3; turn++) expect((await files.readWhole(path, 1_000)).bytes.toString()).toBe("saved\n");
    await files.writeWhole(path, Buffer.from("written\n"));
    expect(await readFile(path, "utf8")).toBe("written\n");
    expect(lines.map((line) => (JSON.parse(line) as { method: string }).method)).toEqual([
      "fs/read_text_file",
      "$/cancel_request",
    ]);
    expect(reports).toHaveLength(1);
  });

  test.each<[disk: string, buffer: string, merged: string | undefined]>([
    ["a\n", "a\n", undefined],
    ["a\r\nb\r\n", "a\nb\n", undefined],
    ["\uFEFFa\n", "a\n", undefined],
    ["a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"],
    ["\uFEFFa\n", "b\n", "\uFEFFb\n"],
    ["a\r\nb\n", "a\nc\n", "a\nc\n"],
    ["", "a\n", "a\n"],
    ["a", "", ""],
  ])("the disk has %j and the buffer %j: %j would be saved", (disk, buffer, merged) => {
    expect(mergeBuffer(disk, buffer)).toBe(merged);
  });
});

/** An editor whose terminals are real processes. */
class Terminals {
  readonly created: TerminalRequest[] = [];
  readonly released: string[] = [];
  readonly killed: string[] = [];
  readonly #running = new Map<string, { child: ChildProcess; output: string; exit: Promise<unknown[]> }>();

  handle(app: ClientApp): void {
    app.onRequest("terminal/create", ({ params }) => {
      this.created.push(params);
      const env = Object.fromEntries((params.env ?? []).map(({ name, value }) => [name, value]));
      const child = spawn(params.command, [...(params.args ?? [])], {
        cwd: params.cwd,
        env: { ...process.env, ...env },
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      const running = { child, output: "", exit: once(child, "close") };
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => (running.output += chunk.toString()));
      const terminalId = `t${this.created.length}`;
      this.#running.set(terminalId, running);
      return { terminalId };
    });
    app.onRequest("terminal/output", ({ params: { terminalId } }) => ({
      output: this.#running.get(terminalId)!.output,
      truncated: false,
    }));
    app.onRequest("terminal/wait_for_exit", async ({ params: { terminalId } }) => {
      const [exitCode, signal] = await this.#running.get(terminalId)!.exit;
      return { exitCode, signal };
    });
    app.onRequest("terminal/kill", ({ params: { terminalId } }) => {
      this.killed.push(terminalId);
      this.#running.get(terminalId)!.child.kill("SIGTERM");
      return {};
    });
    app.onRequest("terminal/release", ({ params: { terminalId } }) => {
      this.released.push(terminalId);
      return {};
    });
  }
}

async function openWithTerminals(
  workspace: ModelWorkspace,
  terminals: Terminals,
  options: AcpOptions = { args: ["--sandbox", "off"] },
) {
  const client = connectClient(workspace, (app) => terminals.handle(app), options);
  await initialize(client.agent, { terminal: true });
  const { sessionId } = await newSession(client.agent, workspace);
  return { ...client, sessionId, say: (text: string) => prompt(client.agent, sessionId, text) };
}

describe("terminals of the editor", () => {
  test("with the sandbox off a command runs there, is shown there, and the model gets its output", async () => {
    const workspace = await createModelWorkspace([
      toolReply("bash", { command: "echo out; echo $((6 * 7)) >&2" }),
      textReply("Done."),
    ]);
    const terminals = new Terminals();
    const { say, updates } = await openWithTerminals(workspace, terminals);
    expect(await say("Run it.")).toEqual({ stopReason: "end_turn" });
    expect(terminals.created).toMatchObject([
      { cwd: workspace.directory, args: expect.arrayContaining(["-c", "echo out; echo $((6 * 7)) >&2"]) },
    ]);
    expect(terminals.released).toEqual(["t1"]);
    expect(getSent(workspace)).toMatch(/out\\n42|42\\nout/);
    const shown = listUpdates(updates, "tool_call_update").filter(({ content }) => content?.[0]?.type === "terminal");
    expect(shown.map(({ status }) => status)).toEqual([undefined, "completed"]);
  });

  test("in the sandbox, and in the background, no command runs there", async () => {
    const command = "echo inside";
    const replies = [toolReply("bash", { command }), textReply("Done.")];
    const inside = new Terminals();
    const workspace = await createModelWorkspace(replies);
    const first = await openWithTerminals(workspace, inside, {});
    await first.say("Run it.");
    expect([inside.created, getSent(workspace).includes("inside")]).toEqual([[], true]);
    const aside = new Terminals();
    const other = await createModelWorkspace([toolReply("bash", { command, background: true }), textReply("Done.")]);
    const second = await openWithTerminals(other, aside);
    await second.say("Run it.");
    expect(aside.created).toEqual([]);
  });

  test("a command that was allowed to run outside of the sandbox stays out of them", async ({ skip }) => {
    skip(findProgram("bwrap", "/nowhere") === undefined);
    const server = createServer((_request, response) => response.end("the answer")).listen(0, "127.0.0.2");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const command = `curl -sSf http://127.0.0.2:${(server.address() as AddressInfo).port}/ && echo "$HTTPS_PROXY."`;
    const workspace = await createModelWorkspace([toolReply("bash", { command }), textReply("Done.")]);
    const terminals = new Terminals();
    const offered: string[] = [];
    const client = connectClient(workspace, (app) => {
      terminals.handle(app);
      app.onRequest("session/request_permission", ({ params: { options } }) => {
        offered.push(...options.map(({ name }) => name));
        const outside = options.find(({ name }) => name.includes("without the sandbox"))!;
        return { outcome: { outcome: "selected", optionId: outside.optionId } };
      });
    });
    await initialize(client.agent, { terminal: true });
    const { sessionId } = await newSession(client.agent, workspace);
    await prompt(client.agent, sessionId, "Fetch it.");
    expect(offered).toContain("Yes, this once: run it without the sandbox");
    expect(getSent(workspace)).toMatch(/the answer.*run again outside of the sandbox/);
    expect(terminals.created).toEqual([]);
  });

  test("a command that fails says how, and a denied one does not reach the editor", async () => {
    const workspace = await createModelWorkspace([
      toolReply("bash", { command: "echo no; exit 3" }),
      toolReply("bash", { command: "rm -rf /" }),
      textReply("Oh."),
    ]);
    const terminals = new Terminals();
    const { say, updates } = await openWithTerminals(workspace, terminals);
    await say("Run it.");
    expect(terminals.created).toHaveLength(1);
    expect(JSON.stringify(workspace.server.requests[1]!.body)).toContain("no\\n\\nCommand exited with code 3");
    expect(listUpdates(updates, "tool_call_update").filter(({ status }) => status === "failed")).toHaveLength(2);
  });

  test("cancelling ends the command, and gives the terminal back", async () => {
    const workspace = await createModelWorkspace([toolReply("bash", { command: "sleep 600" })]);
    const terminals = new Terminals();
    const { agent, say, sessionId } = await openWithTerminals(workspace, terminals);
    const prompted = say("Sleep.");
    await expect.poll(() => terminals.created.length).toBe(1);
    await agent.notify("session/cancel", { sessionId });
    expect(await prompted).toEqual({ stopReason: "cancelled" });
    await expect.poll(() => [terminals.killed, terminals.released]).toEqual([["t1"], ["t1"]]);
  });

  test("a key in the environment of the editor is emptied for the command", async () => {
    const command = 'echo "key=[$OPENAI_API_KEY]"';
    const workspace = await createModelWorkspace([toolReply("bash", { command }), textReply("Done.")]);
    const terminals = new Terminals();
    const { say } = await openWithTerminals(workspace, terminals, {
      args: ["--sandbox", "off"],
      env: { OPENAI_API_KEY: "sk-secret-0123456789abcdef" },
    });
    await say("Look.");
    expect(terminals.created[0]!.env).toContainEqual({ name: "OPENAI_API_KEY", value: "" });
    expect(getSent(workspace)).toContain("key=[]");
  });

  test("an editor that refuses a terminal leaves the command to tau", async () => {
    const workspace = await createModelWorkspace([toolReply("bash", { command: "echo here" }), textReply("Done.")]);
    const client = connectClient(workspace, () => {}, { args: ["--sandbox", "off"] });
    await initialize(client.agent, { terminal: true });
    const { sessionId } = await newSession(client.agent, workspace);
    await prompt(client.agent, sessionId, "Run it.");
    expect(getSent(workspace)).toContain("here");
    expect(joinText(client.updates)).toBe("Done.");
    expect(client.err()).toContain("no terminal");
  });

  test("only variables that differ are sent", () => {
    expect(listChanges({ A: "1", B: "2", C: "3", D: "", E: undefined }, { A: "1", B: "x", F: "6" })).toEqual([
      { name: "C", value: "" },
      { name: "B", value: "x" },
      { name: "F", value: "6" },
    ]);
  });
});
