/** Options of extensions, and extensions in modes without a terminal. */
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { writeExtension, writeModule } from "./extension-kit.ts";
import { createModelWorkspace, run, textReply } from "./kit.ts";

const flagged = `
  tau.registerFlag("plan", { type: "boolean", description: "Only plan" });
  tau.registerFlag("target", { type: "string", default: "nowhere" });
  tau.on("input", ({ text }) => ({
    action: "transform",
    text: text + " plan=" + tau.getFlag("plan") + " target=" + tau.getFlag("target"),
  }));
`;

const lastPrompt = (workspace: { server: { requests: readonly { body?: unknown }[] } }): string =>
  JSON.stringify((workspace.server.requests.at(-1)!.body as { messages: { content: unknown }[] }).messages.at(-1));

const noPlan = 'tau: there is no option --plan. Did you mean "--plan-mode" or "--plan-model"? See tau --help.\n';

test.each([
  [["--plan", "-p", "Go"], "Go plan=true target=nowhere"],
  [["-p", "--target", "moon", "Go"], "Go plan=undefined target=moon"],
  [["-p", "Go", "--target=the moon", "--plan"], "Go plan=true target=the moon"],
  [["-p", "Go", "--target", ""], "Go plan=undefined target="],
])("%j sets flags of an extension, and the rest is the prompt", async (args, prompt) => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  await writeExtension(workspace, "flagged", flagged);
  expect(await run(workspace, args)).toEqual({ code: 0, out: "ok\n", err: "" });
  expect(lastPrompt(workspace)).toContain(prompt);
});

test.each([
  [["-p", "Go", "--plam"], "tau: there is no option --plam. See tau --help.\n"],
  [["-p", "Go", "--thinkin", "x"], 'tau: there is no option --thinkin. Did you mean "--thinking"? See tau --help.\n'],
  [["-p", "Go", "--target"], "tau: --target needs a value: --target TEXT. See tau --help.\n"],
  [["-p", "Go", "--plan=yes"], "tau: --plan takes no value. See tau --help.\n"],
  [["--list-models", "--plan"], noPlan],
  [["-ne", "-p", "Go", "--plan"], noPlan],
])("%j is a usage error, and nothing is asked", async (args, err) => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  await writeExtension(workspace, "flagged", flagged);
  expect(await run(workspace, args)).toEqual({ code: exitCodes.usage, out: "", err });
  expect(workspace.server.requests).toHaveLength(0);
});

test("--help lists the options of extensions, of those that the other options choose", async () => {
  const workspace = await createModelWorkspace([]);
  await writeExtension(workspace, "flagged", flagged);
  const named = await writeModule(
    join(workspace.directory, "named.ts"),
    `export default (tau) => tau.registerFlag("loud", { type: "boolean", description: "Say it loudly" });`,
  );
  const all = await run(workspace, ["--help"]);
  expect(all).toMatchObject({ code: 0, err: "" });
  expect(all.out).toMatch(/Options of extensions:\n +--plan +Only plan\n +--target TEXT +Of flagged\n/);
  expect((await run(workspace, ["help"])).out).toBe(all.out);
  const { out } = await run(workspace, ["--help", "-ne", "-e", named]);
  expect(out).toMatch(/Options of extensions:\n +--loud +Say it loudly\n\n/);
  expect((await run(workspace, ["-ne", "-h"])).out).not.toContain("Options of extensions");
  expect((await run(workspace, ["--help", "--thinkin", "--model"])).out).toContain("--plan");
});

test("--help shows all the same what is not of a broken extension, and runs nothing of an untrusted project", async () => {
  const workspace = await createModelWorkspace([]);
  await writeExtension(workspace, "flagged", flagged);
  await writeExtension(workspace, "broken", `throw new Error("no luck");`);
  const ran = join(workspace.directory, "ran");
  await writeModule(
    join(workspace.directory, ".tau", "extensions", "trap.js"),
    `require("node:fs").writeFileSync(${JSON.stringify(ran)}, ""); module.exports = () => {};`,
  );
  const { code, out, err } = await run(workspace, ["--help"]);
  expect(code).toBe(0);
  expect(out).toContain("--plan");
  expect(err).toMatch(/^tau: broken: .*no luck\n$/);
  await expect(readFile(ran)).rejects.toThrow("ENOENT");
});

test("without extensions an unknown option is refused with the same words", async () => {
  const workspace = await createModelWorkspace([]);
  const expected = { code: exitCodes.usage, out: "", err: noPlan };
  expect(await run(workspace, ["-p", "Go", "--plan"])).toEqual(expected);
  expect(await run(workspace, ["--plan"])).toEqual(expected);
});

test("the error names the extension that could not be loaded, because the option may be its own", async () => {
  const workspace = await createModelWorkspace([]);
  await writeExtension(workspace, "broken", `throw new Error("no luck");`);
  const { code, err } = await run(workspace, ["-p", "Go", "--plan"]);
  expect(code).toBe(exitCodes.usage);
  expect(err).toContain("there is no option --plan.");
  expect(err).toContain("no luck");
});

test("-e loads files and directories, also with -ne, which leaves out all others", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const say = (word: string) =>
    `export default (tau) => tau.on("input", ({ text }) => ({ action: "transform", text: text + " ${word}" }));`;
  await writeExtension(
    workspace,
    "found",
    `tau.on("input", ({ text }) => ({ action: "transform", text: text + " no" }));`,
  );
  await writeModule(join(workspace.directory, "one.ts"), say("one"));
  await mkdir(join(workspace.directory, "two"));
  await writeModule(join(workspace.directory, "two", "index.js"), say("two"));
  const args = ["-ne", "-e", "one.ts", "--extension", "two", "-p", "Go"];
  expect(await run(workspace, args)).toEqual({ code: 0, out: "ok\n", err: "" });
  expect(lastPrompt(workspace)).toContain("Go one two");
  const missing = await run(workspace, ["-e", "gone.ts", "-p", "Go"]);
  expect(missing).toMatchObject({ code: exitCodes.usage, err: "tau: There is no file or directory gone.ts.\n" });
});

test("-e takes the name of a package that npm has installed or linked", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const elsewhere = join(workspace.directory, "elsewhere");
  const modules = join(workspace.directory, "node_modules", "@me");
  const source = `export default (tau) => {
    tau.registerFlag("loud", { type: "boolean", description: "Loud" });
    tau.on("input", ({ text }) => ({ action: "transform", text: text + " linked" }));
  };`;
  await mkdir(elsewhere);
  await writeModule(join(elsewhere, "lib.js"), source);
  await writeFile(join(elsewhere, "package.json"), JSON.stringify({ name: "@me/pack", main: "lib.js" }));
  await mkdir(modules, { recursive: true });
  await symlink(elsewhere, join(modules, "pack"));
  expect(await run(workspace, ["-e", "@me/pack", "-p", "Go"])).toEqual({ code: 0, out: "ok\n", err: "" });
  expect(lastPrompt(workspace)).toContain("Go linked");
  expect((await run(workspace, ["-e", "@me/pack", "--help"])).out).toContain("--loud");
});

test("print and JSON mode start extensions before the prompt, answer dialogs for nobody, and end them", async () => {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("ok")]);
  await writeExtension(
    workspace,
    "modes",
    `
    let seen = "";
    tau.on("session_start", async ({ reason }, ctx) => {
      const answers = [await ctx.ui.select("?", ["a"]), await ctx.ui.confirm("?", "?"), await ctx.ui.custom(() => ({}))];
      seen = [reason, ctx.mode, ctx.hasUI, ...answers].join(",");
    });
    tau.on("input", ({ text, source }) => ({ action: "transform", text: text + " " + seen + " " + source }));
    tau.on("session_shutdown", ({ reason }) => require("node:fs").writeFileSync("${join(workspace.directory, "ended")}", reason));
    `,
  );
  expect(await run(workspace, ["-p", "Go"])).toMatchObject({ code: 0, out: "ok\n" });
  expect(lastPrompt(workspace)).toContain("Go startup,print,false,,false, interactive");
  expect(await readFile(join(workspace.directory, "ended"), "utf8")).toBe("quit");
  expect(await run(workspace, ["--mode", "json", "Go"])).toMatchObject({ code: 0 });
  expect(lastPrompt(workspace)).toContain("Go startup,json,false,,false, interactive");
});

test("a prompt that an extension deals with needs no model, and a run that it starts is waited for", async () => {
  const workspace = await createModelWorkspace([textReply("Forty-two.")]);
  await writeExtension(
    workspace,
    "commands",
    `
    tau.registerCommand("quiet", { handler: () => {} });
    tau.registerCommand("ask", { handler: (args) => tau.sendUserMessage("The question: " + args) });
    `,
  );
  expect(await run(workspace, ["-p", "/quiet"])).toEqual({ code: 0, out: "", err: "" });
  expect(workspace.server.requests).toHaveLength(0);
  expect(await run(workspace, ["-p", "/ask what?"])).toEqual({ code: 0, out: "Forty-two.\n", err: "" });
  expect(lastPrompt(workspace)).toContain("The question: what?");
  const { out } = await run(workspace, ["--mode", "json", "/quiet"]);
  expect(JSON.parse(out.trimEnd().split("\n").at(-1)!)).toMatchObject({ type: "result", answer: "", turns: 0 });
});

test("tau models ends what a provider still looks for", async () => {
  const workspace = await createModelWorkspace([]);
  const marker = join(workspace.directory, "ended");
  const looking = `tau.registerProvider("acme", { baseUrl: "https://acme.example/v1", api: "openai-completions", apiKey: "k",
      refreshModels: async ({ signal }) => {
        signal.addEventListener("abort", () => require("node:fs").writeFileSync(${JSON.stringify(marker)}, "ended"));
        return [{ id: "one" }];
      } });`;
  await writeExtension(workspace, "looking", looking);
  const listed = await run(workspace, ["models", "acme", "--offline"]);
  expect(listed.out).toContain("acme/one");
  expect(await readFile(marker, "utf8")).toBe("ended");
});

test("--list-models and tau models list models of extensions, of those that the other options choose", async () => {
  const workspace = await createModelWorkspace([]);
  const provide = (name: string) =>
    `tau.registerProvider("${name}", { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", apiKey: "none",
      models: [{ id: "one", contextWindow: 32768, maxTokens: 4096 }] });`;
  await writeExtension(workspace, "found", provide("house"));
  await writeExtension(workspace, "broken", `tau.registerProvider("bad", { models: [{ id: 1 }] });`);
  const named = await writeModule(
    join(workspace.directory, "named.ts"),
    `export default (tau) => { ${provide("named")} };`,
  );
  const all = await run(workspace, ["--list-models", "--offline"]);
  expect(all).toMatchObject({ code: 0, err: expect.stringMatching(/^tau: broken: .+$/m) });
  expect(all.out).toMatch(/^acme\/.*\n(.*\n)*house\/one /m);
  expect((await run(workspace, ["models", "--offline"])).out).toBe(all.out);
  const chosen = await run(workspace, ["--list-models", "/one", "--offline", "-ne", "-e", named]);
  expect(chosen).toMatchObject({ code: 0, err: "" });
  expect(chosen.out).toMatch(/^MODEL.*\nnamed\/one .*\n$/);
});

test("what a command says in print mode is on standard error, and the message that it shows is the output", async () => {
  const workspace = await createModelWorkspace([]);
  await writeExtension(
    workspace,
    "report",
    `tau.registerCommand("report", { handler: (args, ctx) => {
      ctx.ui.notify("Working on " + args);
      tau.sendMessage({ customType: "hidden", content: "For the model.", display: false });
      tau.sendMessage({ customType: "report", content: "All is well.", display: true });
    } });`,
  );
  const expected = { code: 0, out: "All is well.\n", err: "tau: Working on it\n" };
  expect(await run(workspace, ["-p", "/report it"])).toEqual(expected);
});
