import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/exit-codes.ts";
import type { WireReply } from "@tau/ai/testing";
import { call, toolReply, createModelWorkspace, run, textReply, temporaryDirectory, text } from "./kit.ts";

test("only the answer is written to standard output", async () => {
  const workspace = await createModelWorkspace([textReply("Four.")]);
  expect(await run(workspace, ["-p", "What is two and two?"])).toEqual({
    code: exitCodes.done,
    out: "Four.\n",
    err: "",
  });
});

test("standard input and files become part of the prompt, and nothing in them is expanded", async () => {
  const workspace = await createModelWorkspace([textReply("Seen.")]);
  await writeFile(join(workspace.directory, "a.txt"), "apples");
  await writeFile(join(workspace.directory, "secret.txt"), "pears");
  const result = await run(workspace, ["-p", "@a.txt", "Compare."], { input: "piped: @secret.txt" });
  expect(result).toMatchObject({ code: exitCodes.done, out: "Seen.\n" });
  const sent = JSON.stringify(workspace.server.requests[0]?.body);
  for (const part of ["Compare.", "apples", "piped: @secret.txt"]) expect(sent).toContain(part);
  expect(sent).not.toContain("pears");
  expect(await run(workspace, ["-p", "@nowhere.txt", "Hi"])).toMatchObject({
    code: exitCodes.usage,
    err: "tau: There is no file nowhere.txt.\n",
  });
});

test("a pipe or a device as a file is refused at once, and a directory is listed", async () => {
  const workspace = await createModelWorkspace([textReply("Seen.")]);
  const pipe = join(workspace.directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const advice = "Pipe its output to standard input, or save it to a file.";
  for (const [path, kind] of [
    [pipe, "a pipe"],
    ["/dev/null", "a device"],
    ["/dev/zero", "a device"],
  ] as const) {
    const { code, err } = await run(workspace, ["-p", `@${path}`, "Hi"]);
    expect({ code, err }).toEqual({ code: exitCodes.usage, err: `tau: ${path} is ${kind}, not a file. ${advice}\n` });
  }
  await mkdir(join(workspace.directory, "fruit"));
  await writeFile(join(workspace.directory, "fruit", "apples.txt"), "");
  expect(await run(workspace, ["-p", "@fruit", "Look."])).toMatchObject({ code: exitCodes.done });
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("apples.txt");
});

test("binary input, an empty key and a message that looks like a file are refused, with advice", async () => {
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

test("a missing or wrong key is reported with the command that stores one", async () => {
  const workspace = await createModelWorkspace([{ kind: "status", status: 401 }]);
  const missing = await run(workspace, ["--model", "openai/gpt-5", "-p", "Hi"]);
  expect(missing.err).toMatch(/^tau: There is no API key for openai\. .* tau auth login openai\n$/);
  expect((await run(workspace, ["-p", "Hi"])).err).toMatch(/ tau auth login acme\n$/);
});

test("empty messages are left out, and a prompt of nothing else is refused", async () => {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  expect(await run(workspace, ["-p", "", "Hi", " "])).toMatchObject({ code: 0, out: "Hello.\n" });
  expect(workspace.server.requests).toHaveLength(1);
  expect(await run(workspace, ["-p", ""])).toMatchObject({ code: exitCodes.usage, out: "" });
});

test("a system prompt is read from a pipe as from a file", async () => {
  const workspace = await createModelWorkspace([textReply("Aye.")]);
  const pipe = join(workspace.directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const result = run(workspace, ["-p", "Hi", "--system-prompt", "pipe"]);
  await writeFile(pipe, "Talk like a pirate.");
  expect(await result).toMatchObject({ code: 0, out: "Aye.\n" });
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("Talk like a pirate.");
});

test("--session-id of another directory is refused, even if both share a session directory", async () => {
  const workspace = await createModelWorkspace([textReply("One.")]);
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

test("tools work, and --continue continues the session", async () => {
  const workspace = await createModelWorkspace([
    toolReply("write", { path: "b.txt", content: "bread" }),
    textReply("Written."),
    textReply("b.txt."),
  ]);
  expect(await run(workspace, ["-p", "Write b.txt."])).toMatchObject({ code: 0, out: "Written.\n" });
  expect(await readFile(join(workspace.directory, "b.txt"), "utf8")).toBe("bread");
  expect(await run(workspace, ["-c", "-p", "What did you write?"])).toMatchObject({ code: 0, out: "b.txt.\n" });
  expect(JSON.stringify(workspace.server.requests[2]?.body)).toContain("Write b.txt.");
});

test("--no-session saves nothing", async () => {
  const workspace = await createModelWorkspace([textReply("Hi.")]);
  await run(workspace, ["--no-session", "-p", "Hi"]);
  expect(await readdir(workspace.agentDir)).not.toContain("sessions");
});

test("a limit stops a run with one line and exit code 1", async () => {
  const workspace = await createModelWorkspace([toolReply("ls"), toolReply("ls"), textReply("never")]);
  const { code, err } = await run(workspace, ["--max-turns", "2", "-p", "Look for ever."]);
  expect(code).toBe(exitCodes.failed);
  expect(err).toBe("tau: the run reached its limit of turns.\n");
});

test("in JSON mode too, a run that a limit ended is told apart from one that is done", async () => {
  const workspace = await createModelWorkspace([toolReply("ls"), textReply("Done.")]);
  const runJson = async (...flags: string[]) => {
    const { code, out } = await run(workspace, [...flags, "--mode", "json", "Look."]);
    const { terminationReason, detail } = JSON.parse(out.trimEnd().split("\n").at(-1)!) as Record<string, unknown>;
    return { code, terminationReason, detail };
  };
  const limited = { code: exitCodes.failed, terminationReason: "no_tool_calls", detail: "budget_turns" };
  expect(await runJson("--max-turns", "1")).toEqual(limited);
  expect(await runJson()).toEqual({ code: exitCodes.done, terminationReason: "no_tool_calls", detail: undefined });
});

test("a tool call that the policy denies is reported, and has its own exit code", async () => {
  const outside = await temporaryDirectory();
  const workspace = await createModelWorkspace([toolReply("read", { path: "/etc/hostname" }), textReply("I may not.")]);
  expect(outside).not.toBe(workspace.directory);
  const result = await run(workspace, ["-p", "Read it."]);
  expect(result).toMatchObject({ code: exitCodes.denied, out: "I may not.\n" });
  expect(result.err).toContain("the policy denied 1 tool call.");
});

test("an error of the provider is one line, and the session can be continued", async () => {
  const workspace = await createModelWorkspace([
    { kind: "status", status: 401, body: '{"error":{"message":"no such key"}}' },
    textReply("ok"),
  ]);
  const failed = await run(workspace, ["-p", "Hi"]);
  expect(failed.code).toBe(exitCodes.failed);
  expect(failed.err).toMatch(/^tau: .*no such key.*\n$/);
  expect(await run(workspace, ["-c", "-p", "Again"])).toMatchObject({ code: 0, out: "ok\n" });
});

test("no arguments on a terminal show the help, and mistakes get a suggestion", async () => {
  const workspace = await createModelWorkspace([]);
  expect((await run(workspace, [])).out).toContain("Usage: tau");
  expect(await run(workspace, ["--thinkng", "low", "-p", "hi"])).toMatchObject({
    code: exitCodes.usage,
    err: 'tau: there is no option --thinkng. Did you mean "--thinking"? See tau --help.\n',
  });
  expect((await run(workspace, ["--model", "acme/nothing-like-it", "-p", "hi"])).err).toContain("There is no model");
  expect((await run(workspace, ["dmeo"])).err).toContain("Did you mean demo?");
});

test("without a model, five lines say how to connect one", async () => {
  const directory = await temporaryDirectory();
  const result = await run({ directory, agentDir: join(directory, "none") }, ["-p", "Hi"]);
  expect(result.code).toBe(exitCodes.failed);
  expect(result.err.trim().split("\n")).toHaveLength(5);
  expect(result.err).toContain("tau demo");
});

test("--system-prompt and --append-system-prompt take a text or a file, and --tools selects tools", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  await writeFile(join(workspace.directory, "prompt.md"), "You are a parrot.");
  const flags = ["--system-prompt", "prompt.md", "--append-system-prompt", "Be loud.", "--tools", "read,grep"];
  await run(workspace, [...flags, "-p", "Hi"]);
  const body = workspace.server.requests[0]?.body as { messages: { content: string }[]; tools: unknown[] };
  expect(JSON.stringify(body.messages[0])).toContain("You are a parrot.");
  expect(JSON.stringify(body.messages[0])).toContain("Be loud.");
  expect(body.tools).toHaveLength(2);
});

test("JSON mode writes the header, then one event per line, and nothing else", async () => {
  const workspace = await createModelWorkspace([textReply("A\u2028line.")]);
  const { code, out } = await run(workspace, ["--mode", "json", "-p", "Hi"]);
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { type: string; delta?: string });
  expect(records[0]?.type).toBe("session");
  expect(records.at(-1)?.type).toBe("agent_end");
  expect(records.flatMap(({ type, delta }) => (type === "text_delta" ? delta : [])).join("")).toBe("A\u2028line.");
});

test("--resume asks for a session on a terminal, and fails without one", async () => {
  const workspace = await createModelWorkspace([textReply("one"), textReply("two"), textReply("three")]);
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
  const withoutTerminal = await run(workspace, ["--resume", "-p", "Go on."]);
  expect(withoutTerminal).toMatchObject({ code: exitCodes.usage });
  expect(withoutTerminal.err).toContain("--session ID");
});

test("text before a tool call or a failure is not an answer, and a silent answer is not shown", async () => {
  const half: WireReply = { kind: "answer", answer: { content: [text("Looking."), call("ls", {})] } };
  const workspace = await createModelWorkspace([
    half,
    half,
    { kind: "status", status: 401, body: "no" },
    textReply("HEARTBEAT_OK"),
  ]);
  expect(await run(workspace, ["--max-turns", "1", "-p", "Look."])).toMatchObject({ code: 1, out: "" });
  expect(await run(workspace, ["-p", "Look."])).toMatchObject({ code: 1, out: "" });
  expect(await run(workspace, ["-p", "Anything?"])).toMatchObject({ code: 0, out: "" });
});

test("an empty prompt is a usage error, and no model is asked", async () => {
  const workspace = await createModelWorkspace([textReply("never")]);
  for (const [args, options] of [
    [["-p", ""], {}],
    [["-p"], { input: "" }],
  ] as const) {
    expect(await run(workspace, args, options)).toMatchObject({ code: exitCodes.usage, out: "" });
  }
  expect(workspace.server.requests).toHaveLength(0);
});

test("a default model that cannot be used is reported, and no other model is used instead", async () => {
  const workspace = await createModelWorkspace([textReply("never")]);
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ defaultModel: "acme/typo-of-it" }));
  const result = await run(workspace, ["-p", "Hi"]);
  expect(result.code).toBe(exitCodes.failed);
  expect(result.err).toContain("The model that the settings ask for cannot be used.");
  await writeFile(join(workspace.agentDir, "models.json"), "{ damaged");
  expect((await run(workspace, ["--model", "acme/small", "-p", "Hi"])).err).toContain("models.json");
  expect(workspace.server.requests).toHaveLength(0);
});

test("a key in the answer of a server is neither shown nor stored", async () => {
  const key = "sk-repeated-0123456789";
  const workspace = await createModelWorkspace([
    { kind: "status", status: 401, body: JSON.stringify({ error: { message: `Wrong key: ${key}` } }) },
  ]);
  const result = await run(workspace, ["--api-key", key, "--mode", "json", "-p", "Hi"]);
  expect(result.err).toContain("Wrong key: …");
  expect(result.out + result.err).not.toContain(key);
  const [folder] = await readdir(join(workspace.agentDir, "sessions"));
  const [file] = await readdir(join(workspace.agentDir, "sessions", folder!));
  expect(await readFile(join(workspace.agentDir, "sessions", folder!, file!), "utf8")).not.toContain(key);
});

test("tools that flags leave out are not reported, and names that do not exist are usage errors", async () => {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("ok"), textReply("ok")]);
  expect(await run(workspace, ["--tools", "read", "-p", "Hi"])).toEqual({ code: 0, out: "ok\n", err: "" });
  expect(await run(workspace, ["--no-tools", "-p", "Hi"])).toEqual({ code: 0, out: "ok\n", err: "" });
  const flags = [
    "--tools",
    "read",
    "--exclude-tools",
    "bash,hashline_patch,session_branch",
    "--models",
    "unknown/*,small",
  ];
  expect(await run(workspace, [...flags, "-p", "Hi"])).toEqual({ code: 0, out: "ok\n", err: "" });
  for (const args of [
    ["--skill", "/no/such/directory", "-p", "Hi"],
    ["--tools", "read", "--no-tools", "-p", "Hi"],
    ["-n", "-p", "Hi"],
    ["--max-turns", "0.5", "-p", "Hi"],
  ]) {
    expect(await run(workspace, args), args.join(" ")).toMatchObject({ code: exitCodes.usage });
  }
});

test("--sequential-tools runs the calls of an answer one at a time", async () => {
  const twoReads: WireReply = { kind: "answer", answer: { content: [call("ls", {}), call("ls", { path: "." })] } };
  const trace = async (...flags: string[]) => {
    const { out } = await run(await createModelWorkspace([twoReads, textReply("ok")]), [
      ...flags,
      "--mode",
      "json",
      "Hi",
    ]);
    return out.match(/(?<="tool_execution_)(start|end)(?=")/g)?.join(" ");
  };
  expect(await trace()).toBe("start start end end");
  expect(await trace("--sequential-tools")).toBe("start end start end");
});

test("a file that is not a session is refused, and nothing is left beside it", async () => {
  const workspace = await createModelWorkspace([textReply("never")]);
  const notes = join(workspace.directory, "notes.txt");
  await writeFile(notes, "These are notes.\n");
  for (const flag of ["--session", "--fork"]) {
    expect(await run(workspace, [flag, notes, "-p", "Hi"])).toMatchObject({ code: exitCodes.usage });
  }
  expect(await readdir(workspace.directory)).toEqual([".agent", "notes.txt"]);
});

test("a name that fits nothing, or more than one thing, is a usage error", async () => {
  const workspace = await createModelWorkspace([textReply("One."), textReply("Two.")]);
  for (const id of ["same-1", "same-2"]) await run(workspace, ["--session-id", id, "-p", "Hi"]);
  const cases: [args: string[], message: string][] = [
    [["--session", "unknown", "-p", "Hi"], 'tau: There is no session "unknown".'],
    [["--session", "same", "-p", "Hi"], 'tau: "same" matches several sessions: same-'],
    [["--fork", "unknown", "-p", "Hi"], 'tau: There is no session "unknown".'],
    [["--model", "unknown/nothing", "-p", "Hi"], 'tau: There is no model "unknown/nothing".'],
    [["--exclude-tools", "Bash", "-p", "Hi"], 'tau: There is no tool "Bash". Did you mean "bash"?'],
    [["--models", "unknown/*", "-p", "Hi"], 'tau: No model matches "unknown/*".'],
    [["-p", "@nowhere"], "tau: There is no file nowhere."],
    [["sessions", "branch", "same-1", "--from", "nowhere"], "tau sessions: The session same-1 has no entry"],
    [["auth", "login", "unknown"], 'tau auth: There is no provider "unknown".'],
    [["config", "get", "nothing"], 'tau config: There is no setting "nothing".'],
  ];
  for (const [args, message] of cases) {
    const { code, out, err } = await run(workspace, args);
    expect({ code, out }, args.join(" ")).toEqual({ code: exitCodes.usage, out: "" });
    expect(err).toContain(message);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
  }
});
