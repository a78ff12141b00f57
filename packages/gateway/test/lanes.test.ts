/** Every run of a session waits for its place, whoever begins it, through a real gateway. */
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway } from "../src/testing/index.ts";

interface Api {
  registerCommand(name: string, command: { handler: (args: string) => Promise<void> }): void;
  sendUserMessage(text: string): unknown;
  sendMessage(message: object, options: object): unknown;
  whileWaiting(work: () => Promise<void>): Promise<void>;
}

async function open(lanes: { global?: number; subagents?: number }) {
  const gates: (() => void)[] = [];
  const turn: ScriptedTurn = () => new Promise((resolve) => gates.push(() => resolve([text("Answered.")])));
  const model = scriptedModel(Array.from({ length: 50 }, () => turn));
  /** The interface of each session's extension, in the order in which they were created. */
  const apis: Api[] = [];
  const extension = (api: Api) => {
    apis.push(api);
    api.registerCommand("nothing", { handler: async () => {} });
  };
  const params = { extensions: { factories: [extension] } } as never;
  const kit = await openTestGateway({ model, params, settings: { gateway: { lanes, queue: { debounceMs: 1 } } } });
  onTestFinished(kit.close);
  const client = await connectRaw(kit.gateway.url, { token: kit.token });
  const create = async () =>
    (await client.must<{ sessionId: string }>("sessions.create", { cwd: kit.workspace })).sessionId;
  const prompt = (sessionId: string, message: string, fields: object = {}) =>
    client.must("session.prompt", { sessionId, message, ...fields });
  const { lanes: places } = kit.gateway.parts;
  const whenCounts = async (held: number, waiting: number) =>
    await expect.poll(() => places.counts).toEqual({ held, waiting });
  const release = async () => {
    await expect.poll(() => gates.length).toBeGreaterThan(0);
    gates.shift()!();
  };
  /** Lists what was sent to the session, in order. */
  const listSaid = (sessionId: string) => {
    const { messages } = kit.gateway.parts.sessions.find(sessionId)!.hosted.session;
    return messages.flatMap((message) => {
      if (message.role !== "user" && message.role !== "custom") return [];
      const { content } = message;
      return typeof content === "string"
        ? [content]
        : content.flatMap((block) => ("text" in block ? [block.text] : []));
    });
  };
  return { ...kit, client, create, prompt, whenCounts, release, gates, listSaid, apis };
}

test.each([
  ["prompt", (api: Api) => api.sendUserMessage("Hello.")],
  ["message", (api: Api) => api.sendMessage({ customType: "test", content: "Hello." }, { triggerTurn: true })],
])("a run that an extension begins with a %s waits for its place", async (_name, send) => {
  const { create, prompt, whenCounts, release, gates, listSaid, apis } = await open({ global: 1 });
  const [one, two] = [await create(), await create()];
  await prompt(one, "Begin.");
  await expect.poll(() => gates.length).toBe(1);
  void send(apis[1]!);
  await whenCounts(1, 1);
  // A message for the session that waits is said after it, and needs no place of its own.
  await prompt(two, "Then.", { queueMode: "followup" });
  await release();
  await whenCounts(1, 0);
  await release();
  await release();
  await whenCounts(0, 0);
  expect(listSaid(two)).toEqual(["Hello.", "Then."]);
});

test("a run of an extension shares the place that the gateway has asked for in the name of its session", async () => {
  const { create, prompt, whenCounts, release, gates, listSaid, apis } = await open({ global: 1 });
  const [one, two] = [await create(), await create()];
  await prompt(one, "Begin.");
  await expect.poll(() => gates.length).toBe(1);
  await prompt(two, "Asked.", { queueMode: "collect" });
  await whenCounts(1, 1);
  void apis[1]!.sendUserMessage("Hello.");
  await release();
  await release();
  await release();
  await whenCounts(0, 0);
  expect(listSaid(two)).toEqual(["Hello.", "Asked."]);
});

test("a run of an extension that waits for its place can be aborted", async () => {
  const { client, create, prompt, whenCounts, release, gates, apis } = await open({ global: 1 });
  const [one, two] = [await create(), await create()];
  await prompt(one, "Begin.");
  await expect.poll(() => gates.length).toBe(1);
  void apis[1]!.sendUserMessage("Hello.");
  await whenCounts(1, 1);
  await client.must("session.abort", { sessionId: two });
  await whenCounts(1, 0);
  await release();
  await whenCounts(0, 0);
  expect(gates).toEqual([]);
});

test("a command of an extension is executed although all places are taken", async () => {
  const { create, prompt, gates, release, whenCounts } = await open({ global: 1 });
  const [one, two] = [await create(), await create()];
  await prompt(one, "Begin.");
  await expect.poll(() => gates.length).toBe(1);
  expect(await prompt(two, "/nothing")).toMatchObject({ disposition: "handled" });
  await release();
  await whenCounts(0, 0);
});

test("a gateway that stops begins no run that waits for a place", async () => {
  const { client, create, prompt, whenCounts, release, gates, gateway, apis } = await open({ global: 1 });
  const [one, two] = [await create(), await create(), await create()];
  await prompt(one, "Begin.");
  await expect.poll(() => gates.length).toBe(1);
  const execute = client.call("session.execute", { sessionId: two, prompt: "Go." });
  await whenCounts(1, 1);
  void apis[2]!.sendUserMessage("Hello.");
  await whenCounts(1, 2);
  const drained = gateway.drain();
  expect(await execute).toMatchObject({ ok: false, error: { code: "unavailable", retryable: true } });
  await release();
  expect(await drained).toBe(0);
  await gateway.stop();
  expect(gates).toEqual([]);
});

test("a session that another one has started needs a place among the sub-agents only", async () => {
  const { create, prompt, whenCounts, release, gates, gateway } = await open({ global: 1, subagents: 1 });
  const parent = await create();
  await prompt(parent, "Begin.");
  await expect.poll(() => gates.length).toBe(1);
  const { host } = gateway.parts.sessions.find(parent)!;
  const children = [await host.create({ parentSessionId: parent }), await host.create({ parentSessionId: parent })];
  // The parent holds the only place of the global lane meanwhile.
  for (const child of children) void prompt(child, "Help.");
  await whenCounts(2, 1);
  await expect.poll(() => gates.length).toBe(2);
  gates.pop()!();
  await expect.poll(() => gates.length).toBe(2);
  await release();
  await release();
  await whenCounts(0, 0);
});

test("a sub-agent that waits for others lets them run, and continues when it has a place again", async () => {
  const { create, prompt, whenCounts, gates, gateway, apis } = await open({ global: 1, subagents: 1 });
  const parent = await create();
  await prompt(parent, "Begin.");
  await expect.poll(() => gates.length).toBe(1);
  const { host } = gateway.parts.sessions.find(parent)!;
  for (const name of ["one", "two"]) void (await host.openChild(parent, { name })).prompt("Help.");
  await whenCounts(2, 1);
  await expect.poll(() => gates.length).toBe(2);
  let end = () => {};
  const work = () => new Promise<void>((resolve) => (end = resolve));
  const waits = [apis[1]!.whileWaiting(work), apis[1]!.whileWaiting(async () => {})];
  await waits[1];
  // The other one has the place now.
  await expect.poll(() => gates.length).toBe(3);
  await whenCounts(2, 0);
  end();
  await whenCounts(2, 1);
  let isOver = false;
  void waits[0]!.then(() => (isOver = true));
  expect(isOver).toBe(false);
  gates.pop()!();
  await expect.poll(() => isOver).toBe(true);
  await whenCounts(2, 0);
  gates.splice(0).forEach((gate) => gate());
  await whenCounts(0, 0);
});

test("a request that begins no run leaves none behind that the next start would call cut", async () => {
  const { client, create, gateway, agentDir } = await open({});
  const sessionId = await create();
  await client.must("session.execute", { sessionId, prompt: "/nothing" });
  await gateway.stop();
  const next = await openTestGateway({ options: { agentDir }, params: { agentDir } });
  onTestFinished(next.close);
  expect(next.gateway.parts.runs.wasCut(sessionId)).toBe(false);
});

test("who waits gets a place when the settings allow more runs", async () => {
  const { client, create, prompt, whenCounts, release } = await open({ global: 1 });
  for (const sessionId of [await create(), await create(), await create()]) await prompt(sessionId, "Go.");
  await whenCounts(1, 2);
  const { hash } = await client.must<{ hash: string }>("config.get");
  await client.must("config.set", { key: "gateway.lanes.global", value: 2, baseHash: hash });
  await whenCounts(2, 1);
  for (let run = 0; run < 3; run++) await release();
  await whenCounts(0, 0);
});
