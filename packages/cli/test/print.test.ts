import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
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

test.each([
  ["another session directory", "other"],
  ["the same session directory", "p-q"],
])("--session-id of another directory is refused, with %s", async (_which, name) => {
  const workspace = await createModelWorkspace([textReply("One.")]);
  const [first, second] = [join(workspace.directory, "p", "q"), join(workspace.directory, name)];
  for (const directory of [first, second]) await mkdir(directory, { recursive: true });
  const args = ["-p", "Hi", "--session-id", "job"];
  expect(await run({ ...workspace, directory: first }, args)).toMatchObject({ code: 0 });
  expect(await run({ ...workspace, directory: second }, args)).toMatchObject({
    code: exitCodes.usage,
    err: `tau: The session "job" belongs to ${first}. Choose another id.\n`,
  });
  expect(workspace.server.requests).toHaveLength(1);
});

test("a session of another directory works in that directory, and is refused when that is gone", async () => {
  const replies = [textReply("One."), toolReply("write", { path: "out.txt", content: "x" }), textReply("Two.")];
  const workspace = await createModelWorkspace([...replies, textReply("Three.")]);
  const [there, here] = [join(workspace.directory, "there"), join(workspace.directory, "here")];
  for (const directory of [there, here]) await mkdir(directory);
  await writeFile(join(there, "AGENTS.md"), "Rules of there.");
  await writeFile(join(here, "AGENTS.md"), "Rules of here.");
  await writeFile(join(here, "note.txt"), "A note of here.");
  await run({ ...workspace, directory: there }, ["--session-id", "far", "-p", "Hi"]);
  const result = await run({ ...workspace, directory: here }, ["--session", "far", "-p", "Write.", "@note.txt"]);
  expect(result).toEqual({
    code: 0,
    out: "Two.\n",
    err: `tau: This session belongs to ${there}. Its tools work there.\n`,
  });
  expect(await readdir(here)).toEqual(["AGENTS.md", "note.txt"]);
  expect(await readdir(there)).toEqual(["AGENTS.md", "out.txt"]);
  const sent = JSON.stringify(workspace.server.requests[1]?.body);
  expect(["Rules of there.", "Rules of here.", "A note of here."].map((words) => sent.includes(words))).toEqual([
    true,
    false,
    true,
  ]);
  await rm(there, { recursive: true });
  for (const args of [
    ["--session", "far"],
    ["--session", "far", "--mode", "rpc"],
  ]) {
    const { code, out, err } = await run({ ...workspace, directory: here }, [
      ...args,
      ...(args[3] ? [] : ["-p", "Hi"]),
    ]);
    expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
    expect(err).toContain(
      `belongs to ${there}, which is not there any more. To continue with a copy in this directory: tau --fork`,
    );
  }
  const fork = await run({ ...workspace, directory: here }, ["--fork", "far", "-p", "Hi"]);
  expect(fork).toMatchObject({ code: 0, out: "Three.\n" });
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
  expect(await runJson()).toEqual({ code: exitCodes.done, terminationReason: "no_tool_calls", detail: null });
});

test("a tool call that the policy denies is reported, and has its own exit code", async () => {
  const outside = await temporaryDirectory();
  const workspace = await createModelWorkspace([toolReply("read", { path: "/etc/hostname" }), textReply("I may not.")]);
  expect(outside).not.toBe(workspace.directory);
  const result = await run(workspace, ["-p", "Read it."]);
  expect(result).toMatchObject({ code: exitCodes.denied, out: "I may not.\n" });
  expect(result.err).toContain("a tool call was denied:");
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

test("no arguments and an output that is no terminal show the help, and mistakes get a suggestion", async () => {
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

test("JSON mode writes the header, then one event per line, then the result, and nothing else", async () => {
  const workspace = await createModelWorkspace([textReply("A\u2028line.")]);
  const { code, out } = await run(workspace, ["--mode", "json", "-p", "Hi"]);
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { type: string; delta?: string });
  expect(records[0]?.type).toBe("session");
  expect(records.slice(-2).map(({ type }) => type)).toEqual(["agent_end", "result"]);
  expect(records.flatMap(({ type, delta }) => (type === "text_delta" ? delta : [])).join("")).toBe("A\u2028line.");
  const content = [{ type: "text", text: "A\u2028line." }];
  expect(records).toContainEqual(
    expect.objectContaining({ type: "message_end", message: expect.objectContaining({ content }) }),
  );
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

test.for([
  ["a missing comma", "agent", '{ "tools": { "excluded": ["bash"] }\n  "retry": {} }', ":2:3: "],
  ["a missing comma of a trusted project", "project", '{ "theme": "a"\n "tools": {} }', ":2:2: "],
  ["an empty file", "agent", "", ":1:1: "],
  ["a restriction of the wrong kind", "agent", '{ "tools": { "excluded": "bash" } }', ":1:14: "],
  ["a misspelled restriction", "agent", '{ "budgets": { "costs": 1 } }', ":1:16: "],
] as const)("with %s in a settings file no run begins, and the place is named", async ([, scope, text, place]) => {
  const workspace = await createModelWorkspace([textReply("never")]);
  const directory = scope === "agent" ? workspace.agentDir : join(workspace.directory, ".tau");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "settings.json"), text);
  for (const mode of [["-p"], ["--mode", "json"], ["--mode", "rpc"]]) {
    const flags = ["--approve", "--model", "acme/small", ...mode];
    const result = await run(workspace, [...flags, ...(mode[1] === "rpc" ? [] : ["Hi"])]);
    expect(result).toMatchObject({ code: exitCodes.usage, out: "" });
    expect(result.err).toContain(`${join(directory, "settings.json")}${place}`);
  }
  expect(workspace.server.requests).toHaveLength(0);
  await expect(readdir(join(workspace.agentDir, "sessions"))).rejects.toThrow("ENOENT");
  for (const command of [["config", "get"], ["sessions", "list"], ["--version"], ["doctor", "--offline"]]) {
    expect((await run(workspace, command)).err).not.toContain("tau does not start");
  }
});

test.for([
  ["an unknown name", '{ "nonsense": 1, "retry": { "maxRetries": 0 } }', ":1:3: "],
  ["a misspelled restriction", '{ "tool": { "excluded": ["bash"] } }', ":1:3: "],
  ["a restriction of the wrong kind", '{ "limits": 5, "sandbox": [] }', ":1:3: "],
  ["a missing comma", '{ "theme": "a"\n "tools": {} }', ":2:2: "],
  ["an empty file", "", ":1:1: "],
])("%s in the settings of a project that is not trusted is reported and keeps no run from beginning", async (row) => {
  const [, text, place] = row as [string, string, string];
  const workspace = await createModelWorkspace([textReply("Here."), textReply("Here.")]);
  const file = join(workspace.directory, ".tau", "settings.json");
  await mkdir(dirname(file));
  await writeFile(file, text);
  for (const mode of [["-p"], ["--mode", "json"], ["--mode", "rpc"]]) {
    const flags = ["--no-approve", "--model", "acme/small", ...mode];
    const { code, out, err } = await run(workspace, [...flags, ...(mode[1] === "rpc" ? [] : ["Hi"])]);
    expect({ code, mode }).toEqual({ code: exitCodes.done, mode });
    const told = mode[0] === "-p" ? err : out + err;
    if (mode[1] !== "rpc") expect(told).toContain(`${file}${place}`);
    if (mode[1] !== "rpc") expect(told).toContain("none of its settings count until this is corrected");
  }
  expect(workspace.server.requests).toHaveLength(2);
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

test.each<[args: string[], settings: object, model: string, thinking: string | undefined]>([
  [["--models", "acme/large"], {}, "large", "medium"],
  [["--models", "acme/large:high,acme/small"], {}, "small", undefined],
  [["--models", "acme/large:high"], {}, "large", "high"],
  [["--models", "acme/large:high", "--thinking", "low"], {}, "large", "low"],
  [["--models", "acme/large", "--model", "small"], {}, "small", undefined],
  [[], { enabledModels: ["acme/large"] }, "large", "medium"],
  [["--models", "acme/small"], { enabledModels: ["acme/large"] }, "small", undefined],
])("%j with the settings %j starts a session with %s", async (args, settings, model, thinking) => {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("ok")]);
  const path = join(workspace.agentDir, "settings.json");
  await writeFile(path, JSON.stringify({ defaultModel: "acme/small", ...settings }));
  expect(await run(workspace, [...args, "-p", "Hi"])).toMatchObject({ code: 0, out: "ok\n" });
  const body = workspace.server.requests[0]!.body as { model: string; reasoning_effort?: string };
  expect([body.model, body.reasoning_effort]).toEqual([model, thinking]);
  // A session that is continued keeps its model.
  await run(workspace, ["--models", "acme/small,acme/large", "-c", "-p", "Hi"]);
  expect(workspace.server.requests[1]?.body).toMatchObject({ model });
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

test("the short flags of pi mean what they mean there", async () => {
  const flags = ["-nt", "-nbt", "-t read,ls", "-xt bash", "-nc", "-ns", "-np", "-ne"];
  const workspace = await createModelWorkspace([...flags, ""].map(() => textReply("ok")));
  const { directory, agentDir, server } = workspace;
  await writeFile(join(directory, "AGENTS.md"), "Always whisper.");
  await mkdir(join(agentDir, "skills", "knit"), { recursive: true });
  await writeFile(join(agentDir, "skills", "knit", "SKILL.md"), "---\nname: knit\ndescription: Knits.\n---\nKnit it.");
  await mkdir(join(agentDir, "prompts"));
  await writeFile(join(agentDir, "prompts", "hail.md"), "Hail the captain.");
  const send = async (flag: string) => {
    const { code, err } = await run(workspace, [...flag.split(" ").filter(Boolean), "-p", "/hail"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const body = JSON.stringify(server.requests.at(-1)?.body);
    const names = ["read", "ls", "bash"].filter((name) => body.includes(`"name":"${name}"`));
    const texts = ["whisper", "Knits", "captain"].filter((word) => body.includes(word));
    return [...names, ...texts].join(" ");
  };
  const all = "read ls bash whisper Knits captain";
  const without = (...words: string[]) =>
    all
      .split(" ")
      .filter((word) => !words.includes(word))
      .join(" ");
  expect(await send("")).toBe(all);
  expect(await send("-nt")).toBe(without("read", "ls", "bash", "Knits"));
  expect(await send("-nbt")).toBe(without("read", "ls", "bash", "Knits"));
  expect(await send("-t read,ls")).toBe(without("bash"));
  expect(await send("-xt bash")).toBe(without("bash"));
  expect(await send("-nc")).toBe(without("whisper"));
  expect(await send("-ns")).toBe(without("Knits"));
  expect(await send("-np")).toBe(without("captain"));
  expect(await send("-ne")).toBe(all);
});

test("a flag as the value of another is refused", async () => {
  const workspace = await createModelWorkspace([textReply("never")]);
  for (const flags of [["-t", "-p"], ["-tp"], ["-xt", "-nt"], ["-nx"]]) {
    const { code, err } = await run(workspace, [...flags, "Hi"]);
    expect({ code, err }, flags.join(" ")).toMatchObject({
      code: exitCodes.usage,
      err: expect.stringContaining("needs a value"),
    });
  }
  expect(workspace.server.requests).toHaveLength(0);
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

test("--provider restricts the model, alone too, and a model that the catalogue does not have is used with a notice", async () => {
  const replies = ["One.", "Two.", "Three."].map(textReply);
  const workspace = await createModelWorkspace(replies, "anthropic-messages");
  const { url } = workspace.server;
  const models = { anthropic: { baseUrl: url, apiKey: "anthropic-key-0123456789" } };
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers: models }));
  const asked = async (...args: string[]) => {
    const { err } = await run(workspace, [...args, "-p", "Hi"]);
    return { err, model: (workspace.server.requests.at(-1)!.body as { model: string }).model };
  };
  expect(await asked("--provider", "anthropic")).toEqual({ err: "", model: "claude-opus-5-5" });
  expect(await asked("--provider", "anthropic", "--model", "haiku")).toEqual({ err: "", model: "claude-haiku-5-5" });
  const unlisted = await asked("--provider", "anthropic", "--model", "gpt-oss-120b");
  expect(unlisted.model).toBe("gpt-oss-120b");
  expect(unlisted.err).toContain('The catalogue has no model "anthropic/gpt-oss-120b"; a context window of 128,000');
});
