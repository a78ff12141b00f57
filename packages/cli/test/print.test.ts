import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/exit-codes.ts";
import type { WireReply } from "@tau/ai/testing";
import { call, calls, createModelWorkspace, run, says, temporaryDirectory, text } from "./kit.ts";

test("the answer alone goes to standard output", async () => {
  const workspace = await createModelWorkspace([says("Four.")]);
  expect(await run(workspace, ["-p", "What is two and two?"])).toEqual({
    code: exitCodes.done,
    out: "Four.\n",
    err: "",
  });
});

test("standard input and files become part of the prompt, and nothing in them is expanded", async () => {
  const workspace = await createModelWorkspace([says("Seen.")]);
  await writeFile(join(workspace.directory, "a.txt"), "apples");
  await writeFile(join(workspace.directory, "secret.txt"), "pears");
  const ran = await run(workspace, ["-p", "@a.txt", "Compare."], { input: "piped: @secret.txt" });
  expect(ran).toMatchObject({ code: exitCodes.done, out: "Seen.\n" });
  const sent = JSON.stringify(workspace.server.requests[0]?.body);
  for (const part of ["Compare.", "apples", "piped: @secret.txt"]) expect(sent).toContain(part);
  expect(sent).not.toContain("pears");
  expect(await run(workspace, ["-p", "@nowhere.txt", "Hi"])).toMatchObject({
    code: exitCodes.usage,
    err: "tau: There is no file nowhere.txt.\n",
  });
});

test("a pipe or a device is no file, is not waited for, and is told so in one line; a directory is listed", async () => {
  const workspace = await createModelWorkspace([says("Seen.")]);
  const pipe = join(workspace.directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const advice = "Pipe its output to standard input, or save it to a file.";
  for (const [given, what] of [
    [pipe, "a pipe"],
    ["/dev/null", "a device"],
    ["/dev/zero", "a device"],
  ] as const) {
    const { code, err } = await run(workspace, ["-p", `@${given}`, "Hi"]);
    expect({ code, err }).toEqual({ code: exitCodes.usage, err: `tau: ${given} is ${what}, not a file. ${advice}\n` });
  }
  await mkdir(join(workspace.directory, "fruit"));
  await writeFile(join(workspace.directory, "fruit", "apples.txt"), "");
  expect(await run(workspace, ["-p", "@fruit", "Look."])).toMatchObject({ code: exitCodes.done });
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("apples.txt");
});

test("what is no text, an empty key and a message that looks like a file are refused, with what to do", async () => {
  const workspace = await createModelWorkspace([]);
  const refused = async (args: string[], input?: string) => {
    const { code, out, err } = await run(workspace, args, input === undefined ? {} : { input });
    expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
    return err;
  };
  expect(await refused(["-p", "Hi"], "a\0b")).toBe(
    "tau: Standard input is not text. Convert it to text, or name it as a file: @FILE.\n",
  );
  expect(await refused(["--api-key", "", "-p", "Hi"])).toBe(
    "tau: --api-key needs a value: --api-key KEY. See tau --help.\n",
  );
  expect(await refused(["-p", "@ada said hi"])).toBe(
    "tau: There is no file ada said hi. If it is a message, put a space before the @.\n",
  );
});

test("who has no key, or a wrong one, is told how to store one", async () => {
  const workspace = await createModelWorkspace([{ kind: "status", status: 401 }]);
  const missing = await run(workspace, ["--model", "openai/gpt-5", "-p", "Hi"]);
  expect(missing.err).toMatch(/^tau: There is no API key for openai\. .* tau auth login openai\n$/);
  expect((await run(workspace, ["-p", "Hi"])).err).toMatch(/ tau auth login acme\n$/);
});

test("a message that is empty says nothing, and one that goes along with nothing is refused", async () => {
  const workspace = await createModelWorkspace([says("Hello.")]);
  expect(await run(workspace, ["-p", "", "Hi", " "])).toMatchObject({ code: 0, out: "Hello.\n" });
  expect(workspace.server.requests).toHaveLength(1);
  expect(await run(workspace, ["-p", ""])).toMatchObject({ code: exitCodes.usage, out: "" });
});

test("a prompt comes from a pipe as from a file", async () => {
  const workspace = await createModelWorkspace([says("Aye.")]);
  const pipe = join(workspace.directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const ran = run(workspace, ["-p", "Hi", "--system-prompt", "pipe"]);
  await writeFile(pipe, "Talk like a pirate.");
  expect(await ran).toMatchObject({ code: 0, out: "Aye.\n" });
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("Talk like a pirate.");
});

test("--session-id of another directory is refused, although both have the same name among the sessions", async () => {
  const workspace = await createModelWorkspace([says("One.")]);
  const [first, second] = [join(workspace.directory, "p", "q"), join(workspace.directory, "p-q")];
  for (const directory of [first, second]) await mkdir(directory, { recursive: true });
  const args = ["-p", "Hi", "--session-id", "job"];
  expect(await run({ ...workspace, directory: first }, args)).toMatchObject({ code: 0 });
  expect(await run({ ...workspace, directory: second }, args)).toMatchObject({
    code: exitCodes.usage,
    err: `tau: The session "job" belongs to ${first}. Choose another id.\n`,
  });
  expect(workspace.server.requests).toHaveLength(1);
});

test("tools work, and the session goes on with --continue", async () => {
  const workspace = await createModelWorkspace([
    calls("write", { path: "b.txt", content: "bread" }),
    says("Written."),
    says("b.txt."),
  ]);
  expect(await run(workspace, ["-p", "Write b.txt."])).toMatchObject({ code: 0, out: "Written.\n" });
  expect(await readFile(join(workspace.directory, "b.txt"), "utf8")).toBe("bread");
  expect(await run(workspace, ["-c", "-p", "What did you write?"])).toMatchObject({ code: 0, out: "b.txt.\n" });
  expect(JSON.stringify(workspace.server.requests[2]?.body)).toContain("Write b.txt.");
});

test("--no-session keeps nothing", async () => {
  const workspace = await createModelWorkspace([says("Hi.")]);
  await run(workspace, ["--no-session", "-p", "Hi"]);
  expect(await readdir(workspace.agentDir)).not.toContain("sessions");
});

test("limits end a run with a clear line and code 1", async () => {
  const workspace = await createModelWorkspace([calls("ls"), calls("ls"), says("never")]);
  const { code, err } = await run(workspace, ["--max-turns", "2", "-p", "Look for ever."]);
  expect(code).toBe(exitCodes.failed);
  expect(err).toBe("tau: the run reached its limit of turns.\n");
});

test("what the policy denies is said, and has its code", async () => {
  const outside = await temporaryDirectory();
  const workspace = await createModelWorkspace([calls("read", { path: "/etc/hostname" }), says("I may not.")]);
  expect(outside).not.toBe(workspace.directory);
  const ran = await run(workspace, ["-p", "Read it."]);
  expect(ran).toMatchObject({ code: exitCodes.denied, out: "I may not.\n" });
  expect(ran.err).toContain("the policy denied 1 tool call.");
});

test("a provider that fails is one line, and the session is intact", async () => {
  const workspace = await createModelWorkspace([
    { kind: "status", status: 401, body: '{"error":{"message":"no such key"}}' },
    says("ok"),
  ]);
  const failed = await run(workspace, ["-p", "Hi"]);
  expect(failed.code).toBe(exitCodes.failed);
  expect(failed.err).toMatch(/^tau: .*no such key.*\n$/);
  expect(await run(workspace, ["-c", "-p", "Again"])).toMatchObject({ code: 0, out: "ok\n" });
});

test("nothing to say on a terminal shows the help; mistakes are answered with the nearest", async () => {
  const workspace = await createModelWorkspace([]);
  expect((await run(workspace, [])).out).toContain("Usage: tau");
  expect(await run(workspace, ["--thinkng", "low", "-p", "hi"])).toMatchObject({
    code: exitCodes.usage,
    err: 'tau: there is no option --thinkng. Did you mean "--thinking"? See tau --help.\n',
  });
  expect((await run(workspace, ["--model", "acme/nothing-like-it", "-p", "hi"])).err).toContain("There is no model");
  expect((await run(workspace, ["dmeo"])).err).toContain("Did you mean demo?");
});

test("without a model: five lines that say how to connect one", async () => {
  const directory = await temporaryDirectory();
  const ran = await run({ directory, agentDir: join(directory, "none") }, ["-p", "Hi"]);
  expect(ran.code).toBe(exitCodes.failed);
  expect(ran.err.trim().split("\n")).toHaveLength(5);
  expect(ran.err).toContain("tau demo");
});

test("--system-prompt and --append-system-prompt take a text or a file, --tools chooses", async () => {
  const workspace = await createModelWorkspace([says("ok")]);
  await writeFile(join(workspace.directory, "prompt.md"), "You are a parrot.");
  const flags = ["--system-prompt", "prompt.md", "--append-system-prompt", "Be loud.", "--tools", "read,grep"];
  await run(workspace, [...flags, "-p", "Hi"]);
  const body = workspace.server.requests[0]?.body as { messages: { content: string }[]; tools: unknown[] };
  expect(JSON.stringify(body.messages[0])).toContain("You are a parrot.");
  expect(JSON.stringify(body.messages[0])).toContain("Be loud.");
  expect(body.tools).toHaveLength(2);
});

test("JSON mode: the header, then one event a line, and nothing else", async () => {
  const workspace = await createModelWorkspace([says("A\u2028line.")]);
  const { code, out } = await run(workspace, ["--mode", "json", "-p", "Hi"]);
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { type: string; delta?: string });
  expect(records[0]?.type).toBe("session");
  expect(records.at(-1)?.type).toBe("agent_end");
  expect(records.flatMap(({ type, delta }) => (type === "text_delta" ? delta : [])).join("")).toBe("A\u2028line.");
});

test("--resume asks on a terminal which session is meant, and says so where nobody can be asked", async () => {
  const workspace = await createModelWorkspace([says("one"), says("two"), says("three")]);
  await run(workspace, ["-p", "The first."]);
  await run(workspace, ["-p", "The second."]);
  const chosen = await run(workspace, ["--resume", "-p", "Go on."], {
    input: "2\n",
    terminal: { input: true, err: true },
  });
  expect(chosen).toMatchObject({ code: 0, out: "three\n" });
  expect(chosen.err).toContain("The second.");
  expect(JSON.stringify(workspace.server.requests[2]?.body)).toContain("The first.");
  const terminal = { input: true, err: true };
  const gaveUp = await run(workspace, ["--resume", "-p", "Go on."], { input: "", terminal });
  expect(gaveUp.code).toBe(exitCodes.interrupted);
  expect(gaveUp.err).toMatch(/: \ntau: Nothing was chosen\.\n$/);
  const wrong = await run(workspace, ["--resume", "-p", "Go on."], { input: "99\n", terminal });
  expect(wrong.code).toBe(exitCodes.usage);
  expect(wrong.err).toMatch(/\ntau: No session of the list was chosen\. Answer with a number or an id\.\n$/);
  const nobody = await run(workspace, ["--resume", "-p", "Go on."]);
  expect(nobody).toMatchObject({ code: exitCodes.usage });
  expect(nobody.err).toContain("--session ID");
});

test("what was said before a call or a failure is no answer, and a silent answer is not shown", async () => {
  const half: WireReply = { kind: "answer", answer: { content: [text("Looking."), call("ls", {})] } };
  const workspace = await createModelWorkspace([
    half,
    half,
    { kind: "status", status: 401, body: "no" },
    says("HEARTBEAT_OK"),
  ]);
  expect(await run(workspace, ["--max-turns", "1", "-p", "Look."])).toMatchObject({ code: 1, out: "" });
  expect(await run(workspace, ["-p", "Look."])).toMatchObject({ code: 1, out: "" });
  expect(await run(workspace, ["-p", "Anything?"])).toMatchObject({ code: 0, out: "" });
});

test("nothing said is a mistake, and asks nobody", async () => {
  const workspace = await createModelWorkspace([says("never")]);
  for (const [args, options] of [
    [["-p", ""], {}],
    [["-p"], { input: "" }],
  ] as const) {
    expect(await run(workspace, args, options)).toMatchObject({ code: exitCodes.usage, out: "" });
  }
  expect(workspace.server.requests).toHaveLength(0);
});

test("a default model that cannot be used is said, and no other one takes its place", async () => {
  const workspace = await createModelWorkspace([says("never")]);
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ defaultModel: "acme/typo-of-it" }));
  const ran = await run(workspace, ["-p", "Hi"]);
  expect(ran.code).toBe(exitCodes.failed);
  expect(ran.err).toContain("The model that the settings ask for cannot be used.");
  await writeFile(join(workspace.agentDir, "models.json"), "{ damaged");
  expect((await run(workspace, ["--model", "acme/small", "-p", "Hi"])).err).toContain("models.json");
  expect(workspace.server.requests).toHaveLength(0);
});

test("a key that a server repeats is shown nowhere, and stored nowhere", async () => {
  const key = "sk-told-again-0123456789";
  const workspace = await createModelWorkspace([
    { kind: "status", status: 401, body: JSON.stringify({ error: { message: `Wrong key: ${key}` } }) },
  ]);
  const ran = await run(workspace, ["--api-key", key, "--mode", "json", "-p", "Hi"]);
  expect(ran.err).toContain("Wrong key: …");
  expect(ran.out + ran.err).not.toContain(key);
  const [folder] = await readdir(join(workspace.agentDir, "sessions"));
  const [file] = await readdir(join(workspace.agentDir, "sessions", folder!));
  expect(await readFile(join(workspace.agentDir, "sessions", folder!, file!), "utf8")).not.toContain(key);
});

test("what flags leave out is no news, what they name and is not there is a mistake", async () => {
  const workspace = await createModelWorkspace([says("ok"), says("ok"), says("ok")]);
  expect(await run(workspace, ["--tools", "read", "-p", "Hi"])).toEqual({ code: 0, out: "ok\n", err: "" });
  expect(await run(workspace, ["--no-tools", "-p", "Hi"])).toEqual({ code: 0, out: "ok\n", err: "" });
  const left = [
    "--tools",
    "read",
    "--exclude-tools",
    "bash,hashline_patch,session_branch",
    "--models",
    "nobody/*,small",
  ];
  expect(await run(workspace, [...left, "-p", "Hi"])).toEqual({ code: 0, out: "ok\n", err: "" });
  for (const args of [
    ["--skill", "/no/such/place", "-p", "Hi"],
    ["--tools", "read", "--no-tools", "-p", "Hi"],
    ["-n", "-p", "Hi"],
    ["--max-turns", "0.5", "-p", "Hi"],
  ]) {
    expect(await run(workspace, args), args.join(" ")).toMatchObject({ code: exitCodes.usage });
  }
});

test("a file that is no session is refused, and nothing is left beside it", async () => {
  const workspace = await createModelWorkspace([says("never")]);
  const notes = join(workspace.directory, "notes.txt");
  await writeFile(notes, "These are notes.\n");
  for (const flag of ["--session", "--fork"]) {
    expect(await run(workspace, [flag, notes, "-p", "Hi"])).toMatchObject({ code: exitCodes.usage });
  }
  expect(await readdir(workspace.directory)).toEqual([".agent", "notes.txt"]);
});

test("a name that fits nothing, or too much, is a mistake, whatever it names", async () => {
  const workspace = await createModelWorkspace([says("One."), says("Two.")]);
  for (const id of ["same-1", "same-2"]) await run(workspace, ["--session-id", id, "-p", "Hi"]);
  const named: [args: string[], said: string][] = [
    [["--session", "nobody", "-p", "Hi"], 'tau: There is no session "nobody".'],
    [["--session", "same", "-p", "Hi"], 'tau: "same" matches several sessions: same-'],
    [["--fork", "nobody", "-p", "Hi"], 'tau: There is no session "nobody".'],
    [["--model", "nobody/nothing", "-p", "Hi"], 'tau: There is no model "nobody/nothing".'],
    [["--exclude-tools", "Bash", "-p", "Hi"], 'tau: There is no tool "Bash". Did you mean "bash"?'],
    [["--models", "nobody/*", "-p", "Hi"], 'tau: No model matches "nobody/*".'],
    [["-p", "@nowhere"], "tau: There is no file nowhere."],
    [["sessions", "branch", "same-1", "--from", "nowhere"], "tau sessions: The session same-1 has no entry"],
    [["auth", "login", "nobody"], 'tau auth: There is no provider "nobody".'],
    [["config", "get", "nothing"], 'tau config: There is no setting "nothing".'],
  ];
  for (const [args, said] of named) {
    const { code, out, err } = await run(workspace, args);
    expect({ code, out }, args.join(" ")).toEqual({ code: exitCodes.usage, out: "" });
    expect(err).toContain(said);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
  }
});
