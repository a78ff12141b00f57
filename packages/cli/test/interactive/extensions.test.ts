/** Extensions in the terminal: what they show, what they ask, and what happens when they fail. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { writeExtensionTrust } from "@tau/config/trust";
import { expect, test } from "vitest";
import { writeExtension } from "../extension-kit.ts";
import { textReply, toolReply } from "../kit.ts";
import { openApp, type OpenedApp, type OpenOptions } from "./kit.ts";

const screensOf = "../interactive/screens";

/** The terminal with one extension, whose factory has this body. */
const open = (body: string, replies: Parameters<typeof openApp>[0] = [], options: OpenOptions = {}) =>
  openApp(replies, {
    settings: { sandbox: { mode: "off" } },
    ...options,
    prepare: async (workspace) => {
      await writeExtension(workspace, "sample", body);
      await options.prepare?.(workspace);
    },
  });

const command = (name: string, body: string) =>
  `tau.registerCommand("${name}", { description: "Runs ${name}", handler: async (args, ctx) => { ${body} } });`;

async function enter(app: OpenedApp, text: string): Promise<void> {
  app.type(text);
  app.press("escape", "enter");
}

async function draw(app: OpenedApp): Promise<string> {
  return `${(await app.screen()).replace(app.directory, "/project").trimEnd()}\n`;
}

const expectScreen = async (app: OpenedApp, name: string) =>
  await expect(await draw(app)).toMatchFileSnapshot(`${screensOf}/extension-${name}.txt`);

test("dialogs take the place of the editor, and answer what was chosen or typed", async () => {
  const app = await open(
    command(
      "ask",
      `const choice = await ctx.ui.select("Which of them?\\nBoth are good.", ["first", "second"]);
       const sure = await ctx.ui.confirm("Sure?", "It cannot be undone.");
       const name = await ctx.ui.input("Name?", "somebody");
       const text = await ctx.ui.editor("Text", "one\\ntwo");
       ctx.ui.notify(JSON.stringify([choice, sure, name, text]), "warning");`,
    ),
  );
  await enter(app, "/ask");
  await app.sees("Which of them?");
  await expectScreen(app, "select");
  app.press("down", "enter");
  await app.sees("It cannot be undone.");
  await expectScreen(app, "confirm");
  app.press("enter");
  await app.sees("somebody");
  app.type("me");
  app.press("enter");
  await app.sees("two");
  await expectScreen(app, "editor");
  app.type("!");
  app.press("enter");
  await app.sees(`["second",true,"me","one\\ntwo!"]`);
});

test("the options of a dialog fit into a small terminal, also one that becomes small", async () => {
  const body = `await ctx.ui.select("Which of them?", Array.from({ length: 30 }, (_, index) => "option " + index));`;
  const app = await open(command("ask", body));
  await enter(app, "/ask");
  await app.sees("option 9");
  app.press("down", "down");
  await app.terminal.resize(40, 8);
  await app.sees(/^ Which of them\?\n(.*\n)*→ option 2\n(.*\n)* {2}\(3\/30\)/);
});

test("what is not text becomes it, and what is missing is not shown", async () => {
  const app = await open(
    command(
      "ask",
      `ctx.ui.setStatus("gone", null);
       const sure = await ctx.ui.confirm("Sure?", undefined, { timeout: null });
       ctx.ui.notify(JSON.stringify([sure, await ctx.ui.select(1, [1234, 5678]), await ctx.ui.editor("Text", 4)]), "loud");`,
    ),
  );
  await enter(app, "/ask");
  await app.sees("Sure?");
  expect(await draw(app)).not.toMatch(/undefined|null/);
  app.press("enter");
  await app.sees("5678");
  app.press("down", "enter");
  await app.sees("Text");
  app.press("enter");
  await app.sees(`[true,5678,"4"]`);
});

test("Escape, a time limit and a signal cancel a dialog, which shows the time that is left", async () => {
  const app = await open(
    command(
      "ask",
      `const cancelled = [await ctx.ui.select("A", ["x"]), await ctx.ui.confirm("B", ""), await ctx.ui.input("C")];
       const timed = await ctx.ui.confirm("In time?", "", { timeout: 30_000 });
       const short = await ctx.ui.select("Short", ["x"], { timeout: 1 });
       const controller = new AbortController();
       const waiting = ctx.ui.input("Waiting", "", { signal: controller.signal });
       controller.abort();
       ctx.ui.notify(JSON.stringify([...cancelled, timed, short ?? null, (await waiting) ?? null]));`,
    ),
  );
  await enter(app, "/ask");
  for (const title of ["A", "B", "C"]) {
    await app.sees(new RegExp(`^ ${title}$`, "m"));
    app.press("escape");
  }
  await app.sees("In time? (30 s)");
  app.press("escape");
  await app.sees("[null,false,null,false,null,null]");
  await expect.poll(app.screen).not.toContain("Waiting");
});

test("a question of the policy that a dialog has covered takes no key in the first moment after it", async () => {
  const app = await open(
    `tau.on("session_start", (event, ctx) => {
       ctx.ui.onTerminalInput((data) => {
         if (data !== "x") return undefined;
         void ctx.ui.confirm("Something else?", "");
         return { consume: true };
       });
     });`,
    [toolReply("read", { path: "/etc/hostname" }), textReply("Thank you.")],
    { message: "read it" },
  );
  await app.sees("Allow this?");
  app.advance(500);
  app.press("down", "down");
  await app.sees("→ 1  Yes, this once");
  app.type("x");
  await app.sees("Something else?");
  app.press("enter", "enter");
  await app.sees("→ n  No");
  app.advance(500);
  app.press("enter");
  await app.sees("Thank you.");
  expect(JSON.stringify(app.server.requests.at(-1)!.body)).toContain("did not allow");
});

test("Escape stops a run also while a command of an extension waits for its end", async () => {
  const app = await open(command("later", `await ctx.waitForIdle(); ctx.ui.notify("It is later.");`), [
    toolReply("bash", { command: "sleep 600" }),
  ]);
  await enter(app, "begin");
  await app.sees("Running bash");
  app.type("/later now");
  app.press("enter");
  await expect.poll(app.screen).not.toContain("/later");
  expect(await app.screen()).toContain("Running bash");
  app.press("escape");
  await app.sees("It is later.");
  expect(await app.screen()).not.toContain("Running bash");
});

test("widgets, status texts, header and footer are where they belong, and go when they are removed", async () => {
  const app = await open(`
    tau.on("session_start", (event, ctx) => {
      ctx.ui.setHeader((tui, theme) => ({ render: (width) => ["My header " + width], invalidate() {} }));
      ctx.ui.setWidget("lines", ["above one", "above two"]);
      ctx.ui.setWidget("many", Array.from({ length: 12 }, (_, index) => "row " + index));
      ctx.ui.setWidget("component", (tui, theme) => ({ render: () => [theme.bold("below")], invalidate() {} }), { placement: "belowEditor" });
      ctx.ui.setStatus("b", "second\\nstatus");
      ctx.ui.setStatus("a", "first \\x1b]52;c;aGk=\\x07status");
    });
    ${command("clear", `ctx.ui.setWidget("lines", undefined); ctx.ui.setWidget("many", undefined); ctx.ui.setStatus("a", undefined); ctx.ui.setHeader(undefined);`)}
    ${command("foot", `ctx.ui.setFooter((tui, theme, data) => ({ render: () => ["branch " + data.getGitBranch() + " " + [...data.getExtensionStatuses().values()].join() + " " + data.getAvailableProviderCount()], invalidate() {} }));`)}
  `);
  await app.sees("first status second status");
  // Nothing but colors reaches the terminal.
  expect(app.terminal.writes.join("")).not.toContain("]52;");
  await expectScreen(app, "widgets");
  await enter(app, "/clear");
  await expect.poll(app.screen).not.toContain("above one");
  expect(await app.screen()).toMatch(/τ tau 1\.2\.3[\s\S]*below\n[\s\S]*\nsecond status$/m);
  await enter(app, "/foot");
  await app.sees("branch main second status 1");
  expect(await app.screen()).not.toContain("0.0%/64k");
});

test("a component gets the keys in the place of the editor until it is done", async () => {
  const app = await open(
    command(
      "pick",
      `const result = await ctx.ui.custom((tui, theme, keybindings, done) => {
         let typed = "";
         return {
           render: () => ["Press keys: " + typed],
           handleInput(data) {
             if (keybindings.matches(data, "tui.select.confirm")) done(typed);
             else typed += data;
             tui.requestRender();
           },
           invalidate() {},
           dispose() { ctx.ui.setStatus("disposed", "disposed"); },
         };
       });
       ctx.ui.notify("Got " + result);`,
    ),
  );
  await enter(app, "/pick");
  await app.sees("Press keys:");
  app.type("ab");
  await app.sees("Press keys: ab");
  await expectScreen(app, "custom");
  app.press("enter");
  await app.sees("Got ab");
  await app.sees("disposed");
  app.type("typed again");
  await app.sees("typed again");
});

test("an overlay is drawn over the rest, has the keys, and can be hidden by its handle", async () => {
  const app = await open(
    command(
      "over",
      `const result = await ctx.ui.custom((tui, theme, keybindings, done) => ({
         render: (width) => ["+".repeat(width), "overlay", "+".repeat(width)],
         handleInput(data) { if (data === "q") done("quit"); if (data === "h") globalThis.handle.setHidden(true); },
         invalidate() {},
       }), { overlay: true, overlayOptions: () => ({ anchor: "top-right", width: 20 }), onHandle: (handle) => { globalThis.handle = handle; } });
       ctx.ui.notify("Got " + result);`,
    ),
  );
  await enter(app, "/over");
  await app.sees("overlay");
  await expectScreen(app, "overlay");
  // Keys of the program are the overlay's too.
  app.press("ctrlC", "ctrlC");
  app.type("h");
  await expect.poll(app.screen).not.toContain("overlay");
  app.type("x");
  await app.sees(/^x/m);
});

test("a shortcut runs, also instead of a key of ours, but never instead of a reserved one", async () => {
  const app = await open(`
    tau.registerShortcut("ctrl+shift+x", { handler: (ctx) => ctx.ui.notify("never this one") });
    tau.registerShortcut("Ctrl+N", { description: "Says so", handler: (ctx) => ctx.ui.notify("shortcut " + ctx.mode) });
    tau.registerShortcut("ctrl+o", { handler: (ctx) => ctx.ui.notify("reserved") });
    tau.registerShortcut("ctrl+v", { handler: () => { throw new Error("clumsy"); } });
  `);
  app.press("ctrlN");
  await app.sees("shortcut tui");
  app.press("ctrlO", "ctrlV");
  await app.sees("clumsy");
  expect(await app.screen()).not.toContain("reserved");
});

test("commands and their arguments are completed", async () => {
  const app = await open(`
    tau.registerCommand("deploy", {
      description: "Puts it there",
      getArgumentCompletions: (prefix) => ["staging", "production"].filter((name) => name.startsWith(prefix)).map((name) => ({ value: name, label: name })),
      handler: (args, ctx) => ctx.ui.notify("deployed to " + args),
    });
    tau.on("session_start", (event, ctx) => ctx.ui.addAutocompleteProvider((current) => ({
      triggerCharacters: ["#"],
      async getSuggestions(lines, line, col, options) {
        const match = /#(\\S*)$/.exec(lines[line].slice(0, col));
        if (!match) return current.getSuggestions(lines, line, col, options);
        if (match[1] === "!") throw new Error("clumsy");
        return { prefix: match[0], items: [{ value: "#2983", label: "#2983", description: "An issue" }] };
      },
      applyCompletion: (...args) => current.applyCompletion(...args),
    })));
  `);
  app.type("/depl");
  await app.sees("Puts it there");
  app.press("tab");
  app.type("pro");
  await app.sees("production");
  app.press("tab", "enter");
  await app.sees("deployed to production");
  app.type("#");
  await app.sees("An issue");
  app.press("tab");
  await app.sees(/^#2983$/m);
});

test("a command with the name of one of ours is run where pi has none, and not used where pi has one", async () => {
  const app = await open(
    `${command("tools", `ctx.ui.notify("tools of an extension");`)} ${command("session", `ctx.ui.notify("never");`)}`,
  );
  await app.sees("Its command /session is not used");
  await enter(app, "/tools");
  await app.sees("tools of an extension");
  await enter(app, "/session");
  await app.sees("Tokens: 0 in");
  expect(await app.screen()).not.toContain("never");
});

test("renderers draw calls, results, messages and entries, and what they lack is drawn as usual", async () => {
  const app = await open(
    `
    const text = (content) => ({ render: (width) => content.split("\\n").map((line) => line.slice(0, width)), invalidate() {} });
    tau.registerTool({
      name: "weather", label: "Weather", description: "Weather", parameters: { type: "object", properties: { city: { type: "string" } } },
      execute: async (id, { city }, signal, onUpdate) => ({ content: [{ type: "text", text: "Sunny in " + city }], details: { degrees: 21 } }),
      renderCall: (args, theme, context) => text("weather of " + args.city + " (" + context.argsComplete + ")"),
      renderResult: (result, { expanded, isPartial }, theme, context) => text(result.details.degrees + " degrees" + (expanded ? "\\n" + result.content[0].text : "") + (isPartial ? " so far" : "")),
    });
    tau.registerTool({ name: "plain", label: "Plain", description: "Plain", parameters: { type: "object" }, execute: async () => ({ content: [{ type: "text", text: "as usual" }], details: {} }) });
    tau.registerTool({ name: "self", label: "Self", description: "Self", parameters: { type: "object" }, renderShell: "self", execute: async () => ({ content: [{ type: "text", text: "x" }], details: {} }), renderCall: () => text("[own frame"), renderResult: () => text("own frame]") });
    tau.registerToolRenderer((name, next) => name === "ls" ? { renderCall: () => text("drawn by a resolver") } : next());
    tau.registerMessageRenderer("card", (message, { expanded }, theme) => text("card: " + message.content + " " + message.details.n));
    tau.registerEntryRenderer("state", (entry) => text("entry: " + entry.data.n));
    tau.registerMarkdownTransformer((markdown, { messageType }) => messageType === "assistant" ? markdown.replaceAll("teh", "the") : markdown);
    ${command("show", `tau.sendMessage({ customType: "card", content: "hello", display: true, details: { n: 7 } }); tau.sendMessage({ customType: "other", content: "a note", display: true });`)}
    ${command("state", `tau.appendEntry("state", { n: 8 });`)}
    `,
    [
      toolReply("weather", { city: "Rome" }),
      toolReply("plain"),
      toolReply("self"),
      toolReply("ls", { path: "." }),
      textReply("This is teh end."),
    ],
    { rows: 40, prepare: async ({ directory }) => await writeFile(join(directory, "a.txt"), "") },
  );
  await enter(app, "go");
  await app.sees("This is the end.");
  await expect.poll(app.screen).not.toContain("escape to stop");
  await enter(app, "/show");
  await app.sees("card: hello 7");
  await app.sees("a note");
  await enter(app, "/state");
  await app.sees("entry: 8");
  await expectScreen(app, "renderers");
  app.press("ctrlO");
  await app.sees("Sunny in Rome");
});

test("a renderer draws what a running tool has so far, with its details", async () => {
  const app = await open(
    `
    tau.registerTool({
      name: "count", label: "Count", description: "Count", parameters: { type: "object" },
      execute: (id, params, signal, onUpdate) => new Promise((resolve) => {
        onUpdate({ content: [{ type: "text", text: "some" }], details: { count: 5 } });
        globalThis.finishCount = () => resolve({ content: [{ type: "text", text: "all" }], details: { count: 9 } });
      }),
      renderResult: (result, { isPartial }, theme, context) => {
        context.state.asked = (context.state.asked ?? 0) + 1;
        return { render: () => [result.details.count + (isPartial ? " so far" : " in all")], invalidate() {} };
      },
    });
    ${command("finish", `globalThis.finishCount();`)}
    `,
    [toolReply("count"), textReply("Done.")],
  );
  await enter(app, "go");
  await app.sees("5 so far");
  app.type("/finish ");
  app.press("enter");
  await app.sees("9 in all");
  await app.sees("Done.");
});

test("a renderer that throws leaves the call's name and text and is reported once; a component shows its error in place", async () => {
  const app = await open(
    `
    let asked = 0;
    const tool = (name, renderers) => tau.registerTool({ name, label: name, description: name, parameters: { type: "object", properties: { city: { type: "string" } } }, execute: async () => ({ content: [{ type: "text", text: "text of " + name }], details: {} }), ...renderers });
    tool("throws", { renderCall: () => { asked++; throw new Error("clumsy call"); }, renderResult: () => { asked++; throw new Error("clumsy result"); } });
    tool("draws", { renderResult: () => ({ render: () => { asked++; throw new Error("clumsy frame"); }, invalidate() {} }) });
    tau.registerMessageRenderer("card", () => ({ render: () => { asked++; throw new Error("clumsy card"); }, invalidate() {} }));
    tau.registerMarkdownTransformer(() => { throw new Error("clumsy markdown"); });
    tau.on("session_start", (event, ctx) => ctx.ui.setWidget("w", () => ({ render: () => { throw new Error("clumsy widget"); }, invalidate() {} })));
    ${command("show", `tau.sendMessage({ customType: "card", content: "hello", display: true });`)}
    ${command("count", `ctx.ui.notify("asked " + asked);`)}
    ${command("broken", `ctx.ui.notify("closed " + (await ctx.ui.custom(() => ({ render: () => { throw new Error("clumsy custom"); }, invalidate() {} }))));`)}
    `,
    [toolReply("throws", { city: "Rome" }), toolReply("draws"), textReply("The answer.")],
    { rows: 40 },
  );
  await enter(app, "go");
  await app.sees("The answer.");
  await expect.poll(app.screen).not.toContain("escape to stop");
  await app.sees("● throws Rome");
  await app.sees("text of throws");
  await app.sees("text of draws");
  await app.sees("clumsy widget");
  for (const message of [
    "renderCall of the tool throws failed: clumsy call",
    "renderResult of the tool throws failed: clumsy result",
    "renderResult of the tool draws failed: clumsy frame",
    "clumsy markdown",
  ])
    await expect.poll(async () => (await app.everything()).split(message)).toHaveLength(2);
  await enter(app, "/show");
  await app.sees("clumsy card");
  app.press("ctrlO", "ctrlO");
  await enter(app, "/count");
  await app.sees("asked 4");
  await enter(app, "/broken");
  await app.sees("clumsy custom");
  app.press("escape");
  await app.sees("closed undefined");
  app.type("still here");
  await app.sees("still here");
});

test("a renderer that gives nothing for one part leaves it to us, and for both parts hides the call", async () => {
  const app = await open(
    `const nothing = { description: "", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: "the usual result" }] }) };
     tau.registerTool({ ...nothing, name: "quiet", label: "Quiet", renderCall: () => undefined });
     tau.registerTool({ ...nothing, name: "silent", label: "Silent", execute: async () => ({ content: [{ type: "text", text: "a hidden result" }] }), renderCall: () => undefined, renderResult: () => null });
     ${command("nothing", `await ctx.ui.custom(() => undefined).catch((error) => ctx.ui.notify(error.message));`)}`,
    [toolReply("quiet"), toolReply("silent"), textReply("Done.")],
  );
  app.type("go");
  app.press("enter");
  await app.sees("Done.");
  expect(await app.screen()).toContain("● quiet");
  expect(await app.screen()).toContain("the usual result");
  expect(await app.screen()).not.toContain("silent");
  expect(await app.screen()).not.toContain("a hidden result");
  await enter(app, "/nothing");
  await app.sees("The function did not return a component.");
});

test("an editor of an extension takes the place of ours, and one that fails gives it back with what was typed", async () => {
  const app = await open(
    `
    const create = () => ({
      text: "",
      getText() { return this.text; },
      setText(text) { this.text = text; },
      handleInput(data) {
        if (data === "!") throw new Error("clumsy editor");
        if (data === "\\r") this.onSubmit(this.text);
        else { this.text += data; this.onChange?.(this.text); }
      },
      render() { return ["=== " + this.text + " ==="]; },
      invalidate() {},
    });
    tau.on("session_start", (event, ctx) => ctx.ui.setEditorComponent(create));
    ${command("which", `ctx.ui.notify("editor " + (ctx.ui.getEditorComponent() === create)); ctx.ui.setEditorText("from outside");`)}
    `,
    [textReply("An answer.")],
  );
  await app.sees("===  ===");
  app.type("hello");
  await app.sees("=== hello ===");
  app.press("enter");
  await app.sees("An answer.");
  app.type("/which");
  app.press("enter");
  await app.sees("editor true");
  await app.sees("=== from outside ===");
  app.type("+!");
  await app.sees("clumsy editor");
  await app.sees(/^from outside\+$/m);
  app.type(" again");
  await app.sees("from outside+ again");
});

test("the working line, the label of thinking, the title, the theme and what is typed can be changed", async () => {
  const app = await open(
    `
    tau.on("session_start", (event, ctx) => {
      ctx.ui.setWorkingMessage("Pondering");
      ctx.ui.setWorkingIndicator({ frames: ["@@"] });
      ctx.ui.setTitle("my title");
      ctx.ui.onTerminalInput((data) => data === "q" ? { consume: true } : data === "j" ? { data: "J" } : undefined);
    });
    tau.registerTool({ name: "wait", label: "Wait", description: "Wait", parameters: { type: "object" }, execute: (id, params, signal, onUpdate, ctx) => new Promise((resolve) => { ctx.ui.setStatus("wait", "it waits"); globalThis.finish = () => resolve({ content: [{ type: "text", text: "waited" }], details: {} }); }) });
    ${command("finish", `globalThis.finish();`)}
    ${command("themes", `const before = ctx.ui.theme.name; const set = ctx.ui.setTheme("dark"); ctx.ui.notify([before, JSON.stringify(set), ctx.ui.setTheme("nothing").success, ctx.ui.getTheme("light").name, ctx.ui.getAllThemes().some(({ name }) => name === "dark")].join(" "));`)}
    ${command("expand", `const before = ctx.ui.getToolsExpanded(); ctx.ui.setToolsExpanded(true); ctx.ui.pasteToEditor("pasted"); ctx.ui.notify(before + " " + ctx.ui.getToolsExpanded() + " " + ctx.ui.getEditorText());`)}
    `,
    [toolReply("wait"), textReply("Over.")],
  );
  await enter(app, "go");
  await app.sees("@@ Pondering");
  expect(app.terminal.writes.join("")).toContain("\x1b]0;my title\x1b\\");
  await app.sees("it waits");
  // Escape would stop the run.
  app.type("/finish ");
  app.press("enter");
  await app.sees("Over.");
  // Ctrl-C would stop a run that has not ended yet.
  await expect.poll(app.screen).not.toContain("Pondering");
  app.type("qjz");
  await app.sees(/^Jz/m);
  app.press("ctrlC");
  await enter(app, "/themes");
  await app.sees(/system \{"success":true\} false light true/);
  await expect.poll(() => app.themes.theme.name).toBe("dark");
  await enter(app, "/expand");
  await app.sees("false true pasted");
});

test("a new session closes the old one, and what its extensions showed is theirs no more", async () => {
  const app = await open(
    `
    tau.on("session_start", ({ reason }, ctx) => { ctx.ui.setStatus("s", "started " + reason); if (reason === "startup") ctx.ui.setWidget("w", ["only first"]); });
    tau.on("session_shutdown", ({ reason }, ctx) => ctx.ui.notify("bye " + reason));
    tau.on("session_before_switch", (event, ctx) => ({ cancel: globalThis.stay === true }));
    ${command("fresh", `await ctx.newSession({ withSession: async (next) => next.ui.notify("in the new one") });`)}
    ${command("stay", `globalThis.stay = true;`)}
    `,
  );
  await app.sees("only first");
  await enter(app, "/new");
  await app.sees("started new");
  expect(await app.screen()).not.toContain("only first");
  await enter(app, "/fresh");
  await app.sees("in the new one");
  const { sessionId } = app.app;
  await enter(app, "/stay");
  await enter(app, "/new");
  await expect.poll(app.screen).not.toContain("/new");
  expect(app.app.sessionId).toBe(sessionId);
});

test("/reload loads extensions again, also the first one, and takes back what the old ones showed", async () => {
  const app = await openApp([]);
  await writeExtension(
    app,
    "sample",
    `tau.on("session_start", ({ reason }, ctx) => ctx.ui.setWidget("one", ["one " + reason]));`,
  );
  await enter(app, "/reload");
  await app.sees("one reload");
  await writeExtension(
    app,
    "sample",
    `tau.on("session_start", ({ reason }, ctx) => ctx.ui.setWidget("two", ["two " + reason])); ${command("again", `ctx.ui.notify("again");`)}`,
  );
  await enter(app, "/reload");
  await app.sees("two reload");
  expect(await app.screen()).not.toContain("one reload");
  await enter(app, "/again");
  await app.sees(/^ again$/m);
});

test("/extensions lists them with their state, what they bring and their problems", async () => {
  const app = await open(
    `tau.registerFlag("plan", { type: "boolean", description: "Only plan" });
     tau.registerShortcut("ctrl+o", { handler: () => {} });
     tau.on("no_such_event", () => {});
     for (const name of ["ls", "own"])
       tau.registerTool({ name, description: "", parameters: {}, execute: async () => ({ content: [] }) });
     ${command("ask", "")}
     ${command("jobs", "")}`,
    [],
    {
      rows: 40,
      prepare: async (workspace) => {
        await writeExtension(workspace, "broken", `throw new Error("no luck");`);
        const id = await writeExtension(workspace, "off", command("gone", ""));
        const change = { to: "killed", operator: "person", reason: "test" } as const;
        await writeExtensionTrust({ id, digest: "" }, change, { agentDir: workspace.agentDir, ids: systemIds });
      },
    },
  );
  await app.sees("no luck");
  await enter(app, "/extensions");
  await app.sees("Options: --plan");
  await expect
    .poll(app.screen)
    .toMatch(/sample\S* +trusted, in this process[\s\S]*Commands: \/ask[\s\S]*Options: --plan/);
  await app.sees(/Replaced\s+sample replaces tau's tool ls\.\s+sample replaces tau's command \/jobs\.\s+Not running/);
  await app.sees(
    /Not running\s+broken +failed\s+.*no luck[\s\S]*off +killed\s+It was turned off\..* tau extensions revive off/,
  );
});

test("an extension can end the program", async () => {
  const app = await open(command("leave", `ctx.shutdown();`));
  await enter(app, "/leave");
  expect(await app.ended).toMatchObject({ sessionId: expect.any(String) });
});
