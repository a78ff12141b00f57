import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, createFakeClock, type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import OpenAI, { APIError } from "openai";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway, type TestGatewayOptions } from "../../src/testing/index.ts";

const model = "scripted/scripted";

async function openChat(options: TestGatewayOptions & { model: ScriptedModel }) {
  const opened = await openTestGateway(options);
  onTestFinished(opened.close);
  const baseURL = `${opened.gateway.url.replace(/^ws/, "http")}/v1`;
  const openai = new OpenAI({ baseURL, apiKey: opened.token, maxRetries: 0 });
  return { ...opened, baseURL, openai };
}

const say = (content: string) => ({ model, messages: [{ role: "user" as const, content }] });

const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 0 };

test("an answer comes whole, with what it used and the session that it was given in", async () => {
  const script = scriptedModel([{ content: [text("Hello there.")], usage }]);
  const { openai, gateway } = await openChat({ model: script });
  const { data, response } = await openai.chat.completions.create(say("Hi")).withResponse();
  expect(data).toMatchObject({
    object: "chat.completion",
    model,
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello there." } }],
    usage: { prompt_tokens: 13, completion_tokens: 5, total_tokens: 18, prompt_tokens_details: { cached_tokens: 3 } },
  });
  const sessionId = response.headers.get("x-tau-session")!;
  expect(gateway.parts.sessions.find(sessionId)).toBeDefined();
});

test("an answer comes piece by piece, and usage where it was asked for", async () => {
  const script = scriptedModel([{ content: [text("One two three four five.")], usage }]);
  const { openai } = await openChat({ model: script });
  const stream = await openai.chat.completions.create({
    ...say("Count"),
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const pieces = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ""));
  expect(pieces.filter((piece) => piece !== "").length).toBeGreaterThan(1);
  expect(pieces.join("")).toBe("One two three four five.");
  expect(chunks[0]!.choices[0]!.delta.role).toBe("assistant");
  expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe("stop");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 5 } });
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
});

test("what does not exist below /v1 is answered in the form of OpenAI's errors too", async () => {
  const { baseURL } = await openChat({ model: scriptedModel([]) });
  const ask = async (path: string) => {
    const response = await fetch(baseURL + path);
    return [response.status, await response.json()];
  };
  const type = "invalid_request_error";
  expect(await ask("/chat/completions")).toEqual([
    405,
    { error: { message: "/v1/chat/completions takes POST.", type, param: null, code: "invalid_parameters" } },
  ]);
  expect(await ask("/embeddings")).toEqual([
    404,
    { error: { message: 'There is nothing at "/v1/embeddings".', type, param: null, code: "not_found" } },
  ]);
});

test("a session that cannot be saved is the server's problem, and may be tried again", async () => {
  const { openai, agentDir } = await openChat({ model: scriptedModel([]) });
  await rm(join(agentDir, "sessions"), { recursive: true, force: true });
  await writeFile(join(agentDir, "sessions"), "not a directory");
  const failure = await openai.chat.completions.create(say("Hi")).catch((error: unknown) => error as APIError);
  expect(failure).toMatchObject({ status: 503, type: "server_error", code: "write_failed" });
});

test("a new session takes over what was said before, and the client's instructions", async () => {
  const script = scriptedModel([[text("Blue.")]]);
  const { openai, workspace } = await openChat({ model: script });
  await writeFile(join(workspace, "plan.txt"), "The plan is secret.");
  await openai.chat.completions.create({
    model,
    messages: [
      { role: "system", content: "Answer in one word." },
      { role: "user", content: "My colour is blue. Say @plan.txt ." },
      { role: "assistant", content: "I see." },
      {
        role: "user",
        content: [
          { type: "text", text: "/help Which colour of @plan.txt ," },
          { type: "text", text: "is mine?" },
        ],
      },
    ],
  });
  const { messages } = script.asked[0]!.context;
  const said = messages.map(({ role, content }) => [
    role,
    typeof content === "string" ? content : JSON.stringify(content),
  ]);
  expect(said.map(([role]) => role)).toEqual(["user", "user", "assistant", "user"]);
  expect(said[0]![1]).toContain("Answer in one word.");
  expect(said[1]![1]).toContain("My colour is blue.");
  expect(said[2]![1]).toContain("I see.");
  expect(JSON.stringify(messages)).not.toContain("The plan is secret.");
  expect(said[3]![1]).toContain(String.raw`/help Which colour of @plan.txt ,\nis mine?`);
});

test("a session that is named goes on, and only what is new is said in it", async () => {
  const script = scriptedModel([[text("First.")], [text("Second.")]]);
  const { openai } = await openChat({ model: script });
  const { response } = await openai.chat.completions.create(say("One")).withResponse();
  const sessionId = response.headers.get("x-tau-session")!;
  const messages = [
    { role: "user" as const, content: "One" },
    { role: "assistant" as const, content: "First." },
    { role: "user" as const, content: "Two" },
  ];
  const headers = { "x-tau-session": sessionId };
  const second = await openai.chat.completions.create({ model, messages }, { headers }).withResponse();
  expect(second.data.choices[0]!.message.content).toBe("Second.");
  expect(second.response.headers.get("x-tau-session")).toBe(sessionId);
  expect(script.asked[1]!.context.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

test("our tools run under the policy of a session that nobody attends", async () => {
  const script = scriptedModel([[text("I look."), call("read", { path: "/etc/hostname" })], [text("I may not.")]]);
  const { openai } = await openChat({ model: script });
  const { choices } = await openai.chat.completions.create(say("Read it"));
  expect(choices[0]!.message.content).toBe("I look.\n\nI may not.");
  const result = script.asked[1]!.context.messages.at(-1)!;
  expect(result).toMatchObject({ role: "toolResult", isError: true });
});

test("what a program says is told as it is, also if it looks like a command or a template", async () => {
  let calls = 0;
  const extension = (tau: { registerCommand: (name: string, command: object) => void }) =>
    tau.registerCommand("work", { description: "Works", handler: async () => void calls++ });
  const script = scriptedModel([[text("One.")], [text("Two.")]]);
  const params = { extensions: { factories: [extension] } } as never;
  const { openai, agentDir } = await openChat({ model: script, params });
  await mkdir(join(agentDir, "prompts"), { recursive: true });
  await writeFile(join(agentDir, "prompts", "review.md"), "Review everything.");
  const said = ["/work now", "/review it"];
  for (const message of said) await openai.chat.completions.create(say(message));
  const told = script.asked.map(({ context }) => JSON.stringify(context.messages.at(-1)));
  expect(told).toEqual(said.map((message) => expect.stringContaining(message)));
  expect(calls).toBe(0);
});

test("an image is shown to the model", async () => {
  const script = scriptedModel([[text("A dot.")]]);
  const { openai } = await openChat({ model: script });
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await openai.chat.completions.create({
    model,
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
        ],
      },
    ],
  });
  const { content } = script.asked[0]!.context.messages[0]!;
  expect(content).toContainEqual(expect.objectContaining({ type: "image", mimeType: "image/png" }));
});

const refused: [string, Record<string, unknown>, number, string?][] = [
  ["tools of the client", { tools: [{ type: "function", function: { name: "f" } }] }, 400, "tools"],
  ["functions of the client", { functions: [{ name: "f" }] }, 400, "functions"],
  ["several answers", { n: 2 }, 400],
  ["a format", { response_format: { type: "json_object" } }, 400],
  ["no messages", { messages: [] }, 400],
  ["nothing said", { messages: [{ role: "user", content: "  " }] }, 400],
  ["an answer at the end", { messages: [{ role: "assistant", content: "Hi" }] }, 400],
  ["a result of a tool", { messages: [{ role: "tool", content: "Hi", tool_call_id: "1" }] }, 400],
  ["calls", { messages: [{ role: "assistant", content: "", tool_calls: [{ id: "1" }] }] }, 400],
  [
    "an image from elsewhere",
    {
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://127.0.0.1/x.png" } }] }],
    },
    400,
  ],
  ["a model that does not exist", { model: "scripted/other" }, 404],
  [
    "a model that does not exist, after a history",
    {
      model: "scripted/other",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
    },
    404,
  ],
  ["a part of a model's name", { model: "scripted" }, 404],
  ["an agent that does not exist", { model: "agent:nobody" }, 404],
  ["an agent outside of its directory", { model: "agent:../x" }, 404],
];

test.each(refused)("%s: refused in the shape that clients expect", async (_name, fields, status, word = "") => {
  const script = scriptedModel([]);
  const { openai, gateway } = await openChat({ model: script });
  const error = await openai.chat.completions
    .create({ ...say("Hi"), ...fields } as never)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ status, type: "invalid_request_error" });
  expect((error as Error).message).toContain(word);
  expect(script.asked).toEqual([]);
  expect([...gateway.parts.sessions.all]).toEqual([]);
  expect(await gateway.parts.sessionIndex.list({ limit: 1 })).toMatchObject({ sessions: [] });
});

test("who has no token is told so in the same shape, and a session that does not exist too", async () => {
  const { baseURL, openai } = await openChat({ model: scriptedModel([]) });
  const stranger = new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 });
  await expect(stranger.chat.completions.create(say("Hi"))).rejects.toMatchObject({
    status: 401,
    type: "authentication_error",
    code: "unauthorized",
  });
  const named = openai.chat.completions.create(say("Hi"), { headers: { "x-tau-session": "nobody" } });
  await expect(named).rejects.toMatchObject({ status: 404, code: "not_found" });
});

test("a run that fails is told, also in the middle of an answer, and is not begun again", async () => {
  const failure = { failure: { kind: "auth", message: "The key is not valid." } } as const;
  const script = scriptedModel([failure, { ...failure, content: [text("It beg")] }]);
  const { baseURL, token } = await openChat({ model: script });
  const openai = new OpenAI({ baseURL, apiKey: token, maxRetries: 2 });
  const error = await openai.chat.completions.create(say("Hi")).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 502, type: "server_error", code: "run_failed" });
  expect((error as Error).message).toContain("The key is not valid.");
  const stream = await openai.chat.completions.create({ ...say("Hi"), stream: true });
  const read = async () => {
    for await (const { id } of stream) expect(id).not.toBe("");
  };
  await expect(read()).rejects.toThrow("The key is not valid.");
  expect(script.asked).toHaveLength(2);
});

/** A turn that goes on until it is aborted. */
const endless = () => {
  let onAborted = () => {};
  const aborted = new Promise<void>((resolve) => (onAborted = resolve));
  const turn = async (_context: unknown, { signal }: { signal?: AbortSignal }) => {
    await new Promise<void>((resolve) => {
      if (signal?.aborted) resolve();
      signal?.addEventListener("abort", () => resolve());
    });
    onAborted();
    return [text("Late.")];
  };
  return { turn, aborted };
};

test("a client that goes away ends its run", async () => {
  const { turn, aborted } = endless();
  const script = scriptedModel([turn]);
  const { openai } = await openChat({ model: script });
  const gone = new AbortController();
  const answer = openai.chat.completions.create(say("Hi"), { signal: gone.signal });
  await expect.poll(() => script.asked.length).toBe(1);
  gone.abort();
  await expect(answer).rejects.toThrow("aborted");
  await aborted;
});

test("a client that goes away leaves a session alone that it named", async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const script = scriptedModel([
    async () => {
      await released;
      return [text("Done.")];
    },
  ]);
  const { openai, gateway, token, workspace } = await openChat({ model: script });
  const client = await connectRaw(gateway.url, { token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  const headers = { "x-tau-session": sessionId };
  const stream = await openai.chat.completions.create({ ...say("Hi"), stream: true }, { headers });
  await expect.poll(() => script.asked.length).toBe(1);
  expect(gateway.parts.connections.list()).toHaveLength(2);
  stream.controller.abort();
  await expect.poll(() => gateway.parts.connections.list()).toHaveLength(1);
  release();
  const { session } = gateway.parts.sessions.find(sessionId)!.hosted;
  await session.waitForIdle();
  const last = session.messages.at(-1);
  expect(last).toMatchObject({ role: "assistant", stopReason: "stop", content: [{ text: "Done." }] });
  client.close();
});

test("models and agents are listed, and an agent answers", async () => {
  const script = scriptedModel([[text("I review.")]]);
  const { openai, agentDir } = await openChat({ model: script });
  await mkdir(join(agentDir, "agents", "reviewer"), { recursive: true });
  const { data } = await openai.models.list();
  expect(data).toContainEqual(expect.objectContaining({ id: "agent:reviewer", object: "model", owned_by: "tau" }));
  const answer = await openai.chat.completions.create({ ...say("Review"), model: "agent:reviewer" });
  expect(answer).toMatchObject({ model: "agent:reviewer", choices: [{ message: { content: "I review." } }] });
});

test("an answer in one piece keeps its connection alive while the run goes on, also when it fails at last", async () => {
  const clock = createFakeClock(Date.now());
  const gates: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => gates.push(resolve));
  const script = scriptedModel([
    async () => (await wait(), [text("At last.")]),
    async () => {
      await wait();
      throw new Error("The model broke.");
    },
  ]);
  const { baseURL, token } = await openChat({ model: script, options: { clock } });
  const ask = async () => {
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(say("Hi")),
    });
    return { response, pieces: response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]() };
  };
  for (const expected of [
    { choices: [{ message: { content: "At last." } }] },
    { error: { type: expect.any(String) } },
  ]) {
    const answering = ask();
    await expect.poll(() => gates.length).toBe(1);
    await expect.poll(() => clock.waiting).toBeGreaterThan(0);
    await clock.advance(15_000);
    const { response, pieces } = await answering;
    expect([response.status, response.headers.get("x-tau-session") !== null]).toEqual([200, true]);
    expect(await pieces.next()).toMatchObject({ value: "\n" });
    await clock.advance(15_000);
    gates.shift()!();
    let rest = "";
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) rest += piece.value;
    expect(JSON.parse(rest)).toMatchObject(expected);
  }
});
