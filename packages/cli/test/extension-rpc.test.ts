/** Tests dialogs and widgets of extensions over RPC, in both framings. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeExtension } from "./extension-kit.ts";
import { createModelWorkspace, textReply } from "./kit.ts";
import { connect, type Json, serve } from "./rpc-kit.ts";

const open = async (body: string, replies = [textReply("ok")]) => {
  const workspace = await createModelWorkspace(replies);
  await writeExtension(workspace, "asking", body);
  return workspace;
};

const isRequest =
  (method: string) =>
  ({ type, method: name }: Json) =>
    type === "extension_ui_request" && name === method;

/** A command that shows what a dialog was answered with. */
const ask = (call: string) =>
  `tau.registerCommand("ask", { description: "Asks", handler: async (args, ctx) => ctx.ui.notify(JSON.stringify(${call}) ?? "undefined") });`;

describe("pi's framing", () => {
  test.each([
    [`await ctx.ui.select("Which?", ["a", "b"])`, { title: "Which?", options: ["a", "b"] }, { value: "b" }, `"b"`],
    [
      `await ctx.ui.select("Which?", ["a", "b"])`,
      { title: "Which?", options: ["a", "b"] },
      { value: "c" },
      "undefined",
    ],
    [`await ctx.ui.confirm("Sure?", "Really")`, { title: "Sure?", message: "Really" }, { confirmed: true }, "true"],
    [`await ctx.ui.confirm("Sure?", "Really")`, { title: "Sure?", message: "Really" }, { cancelled: true }, "false"],
    [`await ctx.ui.input("Name?", "you")`, { title: "Name?", placeholder: "you" }, { value: "me" }, `"me"`],
    [`await ctx.ui.input("Name?")`, { title: "Name?" }, { cancelled: true }, "undefined"],
    [`await ctx.ui.editor("Text", "a\\nb")`, { title: "Text", prefill: "a\nb" }, { value: "c\nd" }, `"c\\nd"`],
    [`await ctx.ui.input("Name?")`, { title: "Name?" }, { value: 7 }, "undefined"],
  ])("%s asks with %j; %j answers", async (call, request, response, result) => {
    const client = serve(await open(ask(call)));
    const prompted = client.ask("prompt", { message: "/ask" });
    const method = /ctx\.ui\.(\w+)/.exec(call)![1]!;
    const asked = await client.seen(isRequest(method));
    expect(asked).toEqual({ type: "extension_ui_request", id: expect.any(String), method, ...request });
    // Other commands are executed while somebody thinks about it.
    expect(await client.ask("get_state")).toMatchObject({ success: true });
    client.send({ type: "extension_ui_response", id: asked["id"], ...response });
    expect(await client.seen(isRequest("notify"))).toMatchObject({ message: result, notifyType: "info" });
    expect(await prompted).toMatchObject({ success: true, data: { disposition: "handled" } });
  });

  test("a new session has begun for its extensions before withSession is called", async () => {
    const workspace = await open(`
      tau.on("session_start", async ({ reason }, ctx) => {
        if (reason === "new") ctx.ui.setStatus("begun", String(await ctx.ui.confirm("Begin?", "")));
      });
      tau.registerCommand("next", { handler: async (args, ctx) => {
        await ctx.newSession({ withSession: async (fresh) => fresh.ui.notify(fresh.mode) });
      } });`);
    const client = serve(workspace);
    const prompted = client.ask("prompt", { message: "/next" });
    const { id } = await client.seen(isRequest("confirm"));
    client.send({ type: "extension_ui_response", id, confirmed: true });
    expect(await client.seen(isRequest("notify"))).toMatchObject({ message: "rpc" });
    const order = client.records.flatMap(({ method }) => (method === "setStatus" || method === "notify" ? method : []));
    expect(order).toEqual(["setStatus", "notify"]);
    expect(await prompted).toMatchObject({ success: true });
  });

  test("a time limit and a signal end a dialog, and its answer is too late then", async () => {
    const workspace = await open(`
      tau.registerCommand("late", { handler: async (args, ctx) => {
        const timed = await ctx.ui.input("In time?", undefined, { timeout: 1 });
        const controller = new AbortController();
        const waiting = ctx.ui.confirm("Sure?", "", { signal: controller.signal });
        controller.abort();
        const again = await ctx.ui.select("Which?", ["a"], { signal: controller.signal });
        ctx.ui.notify([timed, await waiting, again].join());
      } });`);
    const client = serve(workspace);
    await client.ask("prompt", { message: "/late" });
    expect(await client.seen(isRequest("notify"))).toMatchObject({ message: ",false," });
    expect(await client.seen(isRequest("input"))).toMatchObject({ timeout: 1 });
    const { id } = await client.seen(isRequest("confirm"));
    client.send({ type: "extension_ui_response", id, confirmed: true });
    expect(client.records.some(isRequest("select"))).toBe(false);
    expect(await client.ask("get_state")).toMatchObject({ success: true });
  });

  test("what is shown crosses as text, and what needs a terminal has no effect", async () => {
    const workspace = await open(`
      tau.on("session_start", async (event, ctx) => {
        const { ui } = ctx;
        ui.notify("Careful", "warning");
        ui.setStatus("s", "busy");
        ui.setStatus("s", undefined);
        ui.setWidget("w", ["one", "two"], { placement: "belowEditor" });
        ui.setWidget("c", () => ({ render: () => ["never"] }));
        ui.setWidget("w", undefined);
        ui.setTitle("T");
        ui.setEditorText("typed");
        ui.pasteToEditor("pasted");
        ui.setFooter(() => ({ render: () => ["never"] }));
        const rest = [await ui.custom(() => ({ render: () => [] })), ui.setTheme("dark").success, ui.getAllThemes().length,
          ui.getEditorText(), ui.getToolsExpanded(), ctx.mode, ctx.hasUI];
        ui.notify(rest.join());
      });`);
    const client = serve(workspace);
    await client.ask("get_state");
    await client.seen((record) => isRequest("notify")(record) && String(record["message"]).startsWith(","));
    const shown = client.records.flatMap(({ type, id: _id, ...record }) =>
      type === "extension_ui_request" ? [record] : [],
    );
    expect(shown).toEqual([
      { method: "notify", message: "Careful", notifyType: "warning" },
      { method: "setStatus", statusKey: "s", statusText: "busy" },
      { method: "setStatus", statusKey: "s" },
      { method: "setWidget", widgetKey: "w", widgetLines: ["one", "two"], widgetPlacement: "belowEditor" },
      { method: "setWidget", widgetKey: "w", widgetPlacement: "aboveEditor" },
      { method: "setTitle", title: "T" },
      { method: "set_editor_text", text: "typed" },
      { method: "set_editor_text", text: "pasted" },
      { method: "notify", message: ",false,0,,false,rpc,true", notifyType: "info" },
    ]);
  });

  test("an option with a key of the session is shown without it, and can be chosen", async () => {
    const client = serve(await open(ask(`await ctx.ui.select("Which?", ["none", "use acme-key-0123456789"])`)));
    const prompted = client.ask("prompt", { message: "/ask" });
    const { id, options } = await client.seen(isRequest("select"));
    expect(options).toEqual(["none", "use [secret]"]);
    client.send({ type: "extension_ui_response", id, value: "use [secret]" });
    await prompted;
    // What it shows of the answer is without the key too.
    expect(await client.seen(isRequest("notify"))).toMatchObject({ message: `"use [secret]"` });
  });

  test("what is not text becomes it, and a list that is none fails in the extension", async () => {
    const workspace = await open(`
      tau.registerCommand("wrong", { handler: async (args, { ui }) => {
        const getError = async (work) => { try { await work(); } catch (error) { return error.message; } };
        ui.setStatus("s", 5);
        ui.setWidget("w", [1, undefined], { placement: "elsewhere" });
        ui.setTitle();
        ui.notify(7n, "loud");
        const errors = [await getError(() => ui.setWidget("w", "line")), await getError(() => ui.select("Which?"))];
        ui.notify(JSON.stringify([...errors, await ui.select("Which?", [1, 2], { timeout: "soon" })]));
      } });`);
    const client = serve(workspace);
    const prompted = client.ask("prompt", { message: "/wrong" });
    const { id } = await client.seen(isRequest("select"));
    client.send({ type: "extension_ui_response", id, value: "2" });
    expect(await prompted).toMatchObject({ success: true });
    const shown = client.records.flatMap(({ type, id: _id, ...record }) =>
      type === "extension_ui_request" ? [record] : [],
    );
    expect(shown).toEqual([
      { method: "setStatus", statusKey: "s", statusText: "5" },
      { method: "setWidget", widgetKey: "w", widgetLines: ["1", ""], widgetPlacement: "aboveEditor" },
      { method: "setTitle", title: "" },
      { method: "notify", message: "7", notifyType: "info" },
      { method: "select", title: "Which?", options: ["1", "2"] },
      { method: "notify", message: expect.stringMatching(/list of texts.*list of texts.*,2\]$/), notifyType: "info" },
    ]);
  });

  test("a dialog at the start and one before a session is left are answered while their commands wait", async () => {
    const workspace = await open(`
      tau.on("session_start", async ({ reason }, ctx) => ctx.ui.notify("started " + reason + " " + (await ctx.ui.input("Name?"))));
      tau.on("session_before_switch", async (event, ctx) => ({ cancel: !(await ctx.ui.confirm("Leave?", "")) }));
      tau.on("session_shutdown", ({ reason }, ctx) => ctx.ui.notify("ended " + reason));`);
    const client = serve(workspace);
    const prompted = client.ask("prompt", { message: "Hi" });
    const named = await client.seen(isRequest("input"));
    client.send({ type: "extension_ui_response", id: named["id"], value: "me" });
    expect(await prompted).toMatchObject({ data: { disposition: "started" } });
    const isNote = (message: string) => (record: Json) => isRequest("notify")(record) && record["message"] === message;
    await client.seen(isNote("started startup me"));
    const answers = [false, true];
    const asked = new Set<unknown>();
    for (const confirmed of answers) {
      const left = client.ask("new_session");
      const { id } = await client.seen((record) => isRequest("confirm")(record) && !asked.has(record["id"]));
      asked.add(id);
      client.send({ type: "extension_ui_response", id, confirmed });
      expect(await left).toMatchObject({ data: { cancelled: !confirmed } });
    }
    await client.seen(isNote("ended new"));
  });

  test("an answer that comes too late, while the session is left, answers nothing and ends nothing", async () => {
    const workspace = await open(
      `tau.on("session_shutdown", async (event, ctx) => void (await ctx.ui.confirm("Leave?", "")));`,
    );
    const client = serve(workspace);
    const opened = client.ask("new_session");
    const { id } = await client.seen(isRequest("confirm"));
    client.send({ type: "extension_ui_response", id: "earlier", confirmed: true });
    client.send({ type: "extension_ui_response", id, confirmed: true });
    expect(await opened).toMatchObject({ success: true });
    expect(await client.close()).toBe(0);
  });

  test("commands of extensions are listed, and an extension can end the program", async () => {
    const workspace = await open(`
      ${ask("1")}
      tau.registerCommand("stop", { handler: (args, ctx) => ctx.shutdown() });`);
    const client = serve(workspace);
    const { commands } = (await client.ask("get_commands"))["data"] as {
      commands: { sourceInfo: { source: string } }[];
    };
    expect(commands.filter(({ sourceInfo }) => sourceInfo.source !== "feature")).toMatchObject([
      { name: "ask", description: "Asks", source: "extension" },
      { name: "stop" },
    ]);
    expect(commands).toContainEqual(expect.objectContaining({ name: "mcp", source: "extension" }));
    client.send({ id: "end", type: "prompt", message: "/stop" });
    expect(await client.done).toBe(0);
    expect(client.records).toContainEqual(expect.objectContaining({ id: "end", success: true }));
  });

  test("commands are listed once the extensions have started, which may ask something before", async () => {
    const workspace = await open(`
      tau.on("session_start", async (event, ctx) => void (await ctx.ui.confirm("Start?", "Really")));
      tau.on("resources_discover", ({ cwd }) => ({ promptPaths: [cwd + "/greet.md"] }));`);
    await writeFile(join(workspace.directory, "greet.md"), "Say hello.");
    const client = serve(workspace);
    const listed = client.ask("get_commands");
    const { id } = await client.seen(isRequest("confirm"));
    client.send({ type: "extension_ui_response", id, confirmed: true });
    const { commands } = (await listed)["data"] as { commands: unknown };
    expect(commands).toContainEqual(expect.objectContaining({ name: "greet", source: "prompt" }));
  });

  test.each(["reload", "new_session"])(
    "%s cancels dialogs of the extensions, and removes what they show",
    async (left) => {
      const workspace = await open(`
      tau.registerCommand("show", { handler: async (args, ctx) => {
        ctx.ui.setStatus("s", "on");
        ctx.ui.setStatus("gone", "on");
        ctx.ui.setStatus("gone", undefined);
        ctx.ui.setWidget("w", ["line"], { placement: "belowEditor" });
        await ctx.ui.input("Name?");
      } });`);
      const client = serve(workspace);
      const prompted = client.ask("prompt", { message: "/show" });
      await client.seen(isRequest("input"));
      const before = client.records.length;
      expect(await client.ask(left)).toMatchObject({ success: true });
      expect(await prompted).toMatchObject({ data: { disposition: "handled" } });
      const removed = client.records.slice(before).filter(({ type }) => type === "extension_ui_request");
      const request = { type: "extension_ui_request", id: expect.any(String) };
      expect(removed).toEqual([
        { ...request, method: "setStatus", statusKey: "s" },
        { ...request, method: "setWidget", widgetKey: "w", widgetPlacement: "belowEditor" },
      ]);
    },
  );

  test("a client that is gone answers nothing: the program ends, although an extension waits", async () => {
    const client = serve(await open(ask(`await ctx.ui.input("Name?")`)));
    client.send({ type: "prompt", message: "/ask" });
    await client.seen(isRequest("input"));
    expect(await client.close()).toBe(0);
  });
});

describe("JSON-RPC", () => {
  test("dialogs are requests to a client that says it answers them, and cancelled for any other", async () => {
    const workspace = await open(ask(`await ctx.ui.select("Which?", ["a", "b"])`));
    const notes: unknown[] = [];
    const answering = connect(workspace, [], {
      onDialog: (dialog) => ({ value: dialog.method === "select" ? dialog.options[1]! : "" }),
      onNote: (note) => void notes.push(note),
    });
    expect(await answering.client.prompt("/ask")).toEqual({ disposition: "handled" });
    expect(notes).toEqual([{ method: "notify", message: `"b"`, notifyType: "info" }]);
    await answering.close();
    const silent = connect(workspace, [], { onNote: (note) => void notes.push(note) });
    expect(await silent.client.call("execute", { prompt: "/ask" })).toMatchObject({ answer: "", detail: "handled" });
    expect(notes.at(-1)).toMatchObject({ message: "undefined" });
    await silent.close();
  });

  test("a client is told that a dialog is over, and need not answer it any more", async () => {
    const workspace = await open(ask(`await ctx.ui.input("In time?", undefined, { timeout: 1 })`));
    const problems: string[] = [];
    const over: string[] = [];
    const { client, close } = connect(workspace, [], {
      onDialog: ({ title }, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            over.push(title);
            reject(new Error("It is over."));
          });
        }),
      onProblem: (problem) => void problems.push(problem),
    });
    expect(await client.prompt("/ask")).toEqual({ disposition: "handled" });
    expect(over).toEqual(["In time?"]);
    await close();
    expect(problems).toEqual([]);
  });

  test("a client that says that it answers no dialogs any more cancels those that are open", async () => {
    const client = serve(await open(ask(`await ctx.ui.confirm("Sure?", "Really")`)));
    client.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { ui: true } });
    client.send({ jsonrpc: "2.0", id: 2, method: "prompt", params: { message: "/ask" } });
    await client.seen(({ method }) => method === "ui_request");
    client.send({ jsonrpc: "2.0", id: 3, method: "initialize", params: {} });
    expect(await client.seen(({ id }) => id === 2)).toMatchObject({ result: { disposition: "handled" } });
  });

  test("the request has the id of its answer, and an error cancels", async () => {
    const client = serve(await open(ask(`await ctx.ui.confirm("Sure?", "Really")`)));
    client.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { ui: true } });
    client.send({ jsonrpc: "2.0", id: 2, method: "prompt", params: { message: "/ask" } });
    const asked = await client.seen(({ method }) => method === "ui_request");
    expect(asked).toEqual({
      jsonrpc: "2.0",
      id: expect.stringMatching(/^ui:/),
      method: "ui_request",
      params: { id: String(asked["id"]).slice(3), method: "confirm", title: "Sure?", message: "Really" },
    });
    client.send({ jsonrpc: "2.0", id: asked["id"], error: { code: -32_601, message: "What?" } });
    const note = await client.seen(({ method, id }) => method === "ui_request" && id === undefined);
    expect(note["params"]).toEqual({ method: "notify", message: "false", notifyType: "info" });
  });
});
