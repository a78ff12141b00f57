/** Secrets must not appear in any output or file of the program. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createModelWorkspace, run, textReply, toolReply } from "./kit.ts";
import { serve } from "./rpc-kit.ts";

test("a password in the address of a model is used, and never shown", async () => {
  const workspace = await createModelWorkspace([textReply("Here."), textReply("Here."), textReply("Here.")]);
  const { agentDir, server } = workspace;
  const withPassword = server.url.replace("//", "//ada:hunter2-secret@");
  const models = [{ id: "small", contextWindow: 64_000, maxTokens: 4_000 }];
  const config = {
    providers: {
      // A provider without a key, one whose key is refused, and one that does not answer.
      vllm: { baseUrl: withPassword, models },
      acme: { baseUrl: withPassword, api: "openai-completions", apiKey: "acme-key-0123456789", models },
      ollama: { baseUrl: "http://ada:hunter2-secret@127.0.0.1:9/v1" },
    },
  };
  await writeFile(join(agentDir, "models.json"), JSON.stringify(config));
  await writeFile(
    join(agentDir, "settings.json"),
    JSON.stringify({ defaultModel: "vllm/small", retry: { maxRetries: 0 } }),
  );
  const outputs: string[] = [];
  for (const args of [
    ["-p", "Hi"],
    ["--mode", "json", "Hi"],
    ["--model", "acme/small", "-p", "Hi"],
    ["models", "--all"],
    ["models", "--json"],
    ["doctor", "--network"],
    ["auth", "status"],
    ["config", "get"],
  ]) {
    const { out, err } = await run(workspace, args, { env: { OPENAI_API_KEY: "fake-key-0123456789" } });
    outputs.push(out, err);
  }
  expect(outputs[0]).toBe("Here.\n");
  expect(outputs[5]).toMatch(/^tau: No key is sent to an address with a user name or a password\. .*\n$/);
  expect(server.requests[0]?.headers["authorization"]).toBe(`Basic ${btoa("ada:hunter2-secret")}`);
  const rpc = serve(workspace);
  const { data } = (await rpc.ask("get_state")) as { data: { model: { baseUrl: string } } };
  expect(data.model.baseUrl).toBe(server.url);
  await rpc.ask("get_available_models");
  await rpc.ask("set_model", { provider: "acme", modelId: "small" });
  await rpc.ask("cycle_model");
  await rpc.ask("prompt", { message: "Hi" });
  await rpc.seen(({ type }) => type === "agent_end");
  await rpc.close();
  outputs.push(JSON.stringify(rpc.records), rpc.err());
  for (const text of outputs) expect(text).not.toContain("hunter2");
  const kept = await readdir(join(agentDir, "sessions"), { recursive: true, withFileTypes: true });
  for (const file of kept.filter((file) => file.isFile())) {
    expect(await readFile(join(file.parentPath, file.name), "utf8")).not.toContain("hunter2");
  }
});

test("commands get no key that tau uses, whatever its variable is called, and a key that comes back is not stored", async () => {
  const workspace = await createModelWorkspace([
    toolReply("bash", { command: "env; echo done" }),
    toolReply("bash", { command: "cat notes.txt" }),
    textReply("It is plain-looking-key-42."),
  ]);
  const { directory, agentDir, server } = workspace;
  const models = JSON.parse(await readFile(join(agentDir, "models.json"), "utf8")) as {
    providers: { acme: { apiKey: string } };
  };
  models.providers.acme.apiKey = "$WORK_THING";
  await writeFile(join(agentDir, "models.json"), JSON.stringify(models));
  await writeFile(join(directory, "notes.txt"), "The key is plain-looking-key-42, they say.");
  const env = {
    WORK_THING: "plain-looking-key-42",
    SAME: "plain-looking-key-42",
    SHAPED: `sk-${"0a".repeat(12)}`,
    FINE: "1",
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await run(workspace, ["-p", "Look."])).code).toBe(0);
  expect(server.requests[0]?.headers["authorization"]).toBe("Bearer plain-looking-key-42");
  const shown = JSON.stringify(server.requests[1]?.body);
  expect(shown).toContain("FINE=1");
  expect(shown).not.toMatch(/plain-looking-key-42|WORK_THING|SAME=|SHAPED/);
  const exported = await run(workspace, ["sessions", "export", "--format", "md"]);
  expect(exported.out).toContain("The key is [secret], they say.");
  expect(exported.out).toContain("It is [secret].");
  const kept = await readdir(join(agentDir, "sessions"), { recursive: true, withFileTypes: true });
  for (const file of kept.filter((file) => file.isFile())) {
    expect(await readFile(join(file.parentPath, file.name), "utf8")).not.toContain("plain-looking-key-42");
  }
});

test("a key of tau's own that a model or a file quotes is not in the frames of JSON and RPC, and files keep it", async () => {
  const key = "acme-key-0123456789";
  const replies = () => [
    toolReply("read", { path: "notes.txt" }),
    toolReply("write", { path: "copy.txt", content: `key=${key}\n` }),
    textReply(`It is ${key}, and ${key} again.`),
  ];
  const workspace = await createModelWorkspace([...replies(), ...replies(), ...replies()]);
  const { directory, agentDir } = workspace;
  const path = join(agentDir, "models.json");
  const models = JSON.parse(await readFile(path, "utf8")) as { providers: { acme: { apiKey: string } } };
  models.providers.acme.apiKey = key;
  await writeFile(path, JSON.stringify(models));
  await writeFile(join(directory, "notes.txt"), `The key is ${key}.`);
  const json = await run(workspace, ["--mode", "json", "Look."]);
  expect(json.code).toBe(0);
  const shown = json.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const answer = shown.flatMap(({ type, delta }) => (type === "text_delta" ? [delta] : [])).join("");
  expect(answer).toBe("It is [secret], and [secret] again.");
  expect(shown.at(-1)).toMatchObject({ type: "result", answer });
  expect(await readFile(join(directory, "copy.txt"), "utf8")).toBe(`key=${key}\n`);
  const outputs = [json.out];
  const pi = serve(workspace);
  await pi.ask("prompt", { message: "Look." });
  await pi.seen(({ type }) => type === "agent_settled");
  await pi.ask("get_messages");
  await pi.close();
  outputs.push(JSON.stringify(pi.records));
  expect(outputs[1]).toContain("[secret]");
  for (const text of outputs) for (let end = 8; end <= key.length; end++) expect(text).not.toContain(key.slice(0, end));
});

test("print mode shows no key that a model or a file quotes, in any encoding, on either stream", async () => {
  const key = "plain-looking-key-42";
  const hex = Buffer.from(key).toString("hex");
  const quoted = [key, hex, hex.toUpperCase(), hex.replaceAll(/../g, "%$&")].join(" and ");
  const workspace = await createModelWorkspace([
    toolReply("bash", { command: `true ${key}` }),
    textReply(`It is ${quoted}.`),
  ]);
  const models = JSON.parse(await readFile(join(workspace.agentDir, "models.json"), "utf8")) as {
    providers: { acme: { apiKey: string } };
  };
  models.providers.acme.apiKey = key;
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify(models));
  const { code, out, err } = await run(workspace, ["--verbose", "-p", "Look."]);
  expect({ code, out }).toEqual({ code: 0, out: "It is [secret] and [secret] and [secret] and [secret].\n" });
  expect(err).toContain("bash true [secret]");
});

test("a terminal is not told to change the direction of text, by an answer, a name or an error", async () => {
  const turn = "\u202e";
  const workspace = await createModelWorkspace([textReply(`safe ${turn}gpj.exe`)]);
  const terminal = { input: false, out: true, err: true };
  const answer = await run(workspace, ["-p", "--name", `a${turn}b`, "Hi"], { terminal });
  const list = await run(workspace, ["sessions", "list"], { terminal });
  const missing = await run(workspace, ["-p", `@x${turn}y`, "Hi"], { terminal });
  expect(answer.out).toContain("gpj.exe");
  expect(missing.err).toMatch(/There is no file/);
  for (const { out, err } of [answer, list, missing]) expect(out + err).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

test("a key that a command of the user prints is not stored, also one that is new and never used", async () => {
  const workspace = await createModelWorkspace([textReply("Here.")]);
  const rpc = serve(workspace);
  const file = join(workspace.agentDir, "auth.json");
  const entry = JSON.stringify({ groq: { type: "api_key", key: "groq-key-0123456789" } });
  // As `tau auth print-bearer-token` does, which may renew what it prints.
  await rpc.ask("bash", {
    command: `printf '%s' '${entry}' > '${file}' && chmod 600 '${file}' && echo groq-key-0123456789`,
  });
  await rpc.ask("prompt", { message: "Hi" });
  await rpc.seen(({ type }) => type === "agent_end");
  await rpc.close();
  const kept = await readdir(join(workspace.agentDir, "sessions"), { recursive: true, withFileTypes: true });
  const logs = kept.filter((each) => each.isFile() && each.name.endsWith(".jsonl"));
  const texts = await Promise.all(logs.map((each) => readFile(join(each.parentPath, each.name), "utf8")));
  expect(texts.join("")).toContain("bashExecution");
  expect(texts.join("").match(/"output":"[^"]*"/)?.[0]).toBe(`"output":"[secret]"`);
});
