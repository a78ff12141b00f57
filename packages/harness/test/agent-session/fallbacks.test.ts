/** Another key or model is used while the selected one cannot be. Real servers refuse requests. */
import { join } from "node:path";
import { customTypes } from "@tau/protocol";
import { SessionManager } from "@tau/harness";
import { describe, expect, test } from "vitest";
import { answers, breaksOff, openWireDesk, refuses } from "./wire-desk.ts";

const chain = (...models: string[]) => ({ retry: { fallbackChains: [models] } });
const busy = [refuses(529), refuses(529), refuses(529)];

async function say(session: { prompt(text: string): Promise<unknown> }, words = "Hi"): Promise<string> {
  const outcome = (await session.prompt(words)) as {
    failure?: { kind: string };
    answer?: { content: readonly { type: string; text?: string }[] };
  };
  return outcome.failure?.kind ?? outcome.answer?.content.map((block) => block.text ?? "").join("") ?? "";
}

describe("a chain of models", () => {
  test("the next model answers after three refusals of a busy provider", async () => {
    const desk = await openWireDesk({ one: busy, two: [answers("From two.")] });
    const { session, uses } = await desk.open(chain("one/m", "two/m"));
    expect(await say(session)).toBe("From two.");
    expect(desk.servers["one"]!.requests).toHaveLength(3);
    expect(desk.servers["two"]!.requests).toHaveLength(1);
    expect(uses()).toEqual(["fallback two/m"]);
    expect(session.model).toMatchObject({ provider: "one" });
    expect(session.modelUse).toMatchObject({ provider: "two", cause: "fallback" });
    expect(session.modelUse?.reason).toMatch(
      /^one\/m has too much load: .*tried again after 5 minutes.*two\/m is used instead\.$/s,
    );
  });

  test.each([
    ["no credit", 402],
    ["a rejected key", 401],
  ])("the next model answers at once for %s", async (_what, status) => {
    const desk = await openWireDesk({ one: [refuses(status)], two: [answers("From two.")] });
    const { session, events } = await desk.open(chain("one/m", "two/m"));
    expect(await say(session)).toBe("From two.");
    expect(desk.servers["one"]!.requests).toHaveLength(1);
    expect(events.some(({ type }) => type === "retry_scheduled")).toBe(false);
  });

  test("a provider that asks for more patience than a retry has is not asked again", async () => {
    const desk = await openWireDesk({ one: [refuses(429, { "retry-after": "90" })], two: [answers("From two.")] });
    const { session } = await desk.open(chain("one/m", "two/m"));
    expect(await say(session)).toBe("From two.");
    expect(desk.servers["one"]!.requests).toHaveLength(1);
  });

  test("the selected model is used again when the time is over that its provider asked for", async () => {
    const desk = await openWireDesk({
      one: [refuses(429, { "retry-after": "90" }), answers("From one.")],
      two: [answers("From two."), answers("Two again.")],
    });
    const { session, uses } = await desk.open(chain("one/m", "two/m"));
    await say(session);
    await desk.clock.advance(89_000);
    expect(await say(session)).toBe("Two again.");
    await desk.clock.advance(1_000);
    expect(await say(session)).toBe("From one.");
    expect(uses()).toEqual(["fallback two/m", "restored one/m"]);
    expect(session.modelUse).toMatchObject({ cause: "restored" });
  });

  test("other sessions of the directory do not ask a model that is not available", async () => {
    const desk = await openWireDesk({ one: [refuses(402)], two: [answers("First."), answers("Second.")] });
    await say((await desk.open(chain("one/m", "two/m"))).session);
    const other = await desk.open(chain("one/m", "two/m"));
    expect(await say(other.session)).toBe("Second.");
    expect(other.uses()).toEqual(["fallback two/m"]);
    expect(desk.servers["one"]!.requests).toHaveLength(1);
  });

  test("a model that the user selects is asked, although it failed a moment ago", async () => {
    const desk = await openWireDesk({ one: [refuses(402), answers("From one.")], two: [answers("From two.")] });
    const { session, uses } = await desk.open(chain("one/m", "two/m"));
    await say(session);
    await session.setModel("one/m");
    expect(await say(session)).toBe("From one.");
    expect(uses()).toEqual(["fallback two/m", "restored one/m"]);
  });

  test("the last model of a chain is waited for, the others are not", async () => {
    const desk = await openWireDesk({ one: busy, two: [...busy, ...busy, answers("At last.")] });
    const { session } = await desk.open(chain("one/m", "two/m"), { waitsForBusyProvider: true });
    expect(await say(session)).toBe("At last.");
    expect(desk.servers["one"]!.requests).toHaveLength(3);
    expect(desk.servers["two"]!.requests).toHaveLength(7);
  });

  test("all models of a chain are tried, and the failure of the last one ends the run", async () => {
    const desk = await openWireDesk({ one: [refuses(401)], two: [refuses(402)], three: [refuses(401)] });
    const { session, uses } = await desk.open(chain("one/m", "two/m", "three/m"));
    expect(await say(session)).toBe("auth");
    expect(uses()).toEqual(["fallback two/m", "fallback three/m"]);
    for (const { requests } of Object.values(desk.servers)) expect(requests).toHaveLength(1);
  });

  test("no other model is used after text was shown", async () => {
    const desk = await openWireDesk({ one: [breaksOff("A long beginning of an answer."), answers("Again.")] });
    const { session, events } = await desk.open({
      retry: { fallbackChains: { "one/*": ["two/m"] }, maxRetries: 1 },
    });
    expect(await say(session)).toBe("Again.");
    expect(events.some(({ type }) => type === "text_delta")).toBe(true);
    expect(desk.servers["two"]!.requests).toHaveLength(0);
  });

  test("a model that the user has excluded is never asked", async () => {
    const desk = await openWireDesk({ one: [refuses(402)], three: [answers("From three.")] });
    const { session } = await desk.open({ ...chain("one/m", "two/m", "three/m"), enabledModels: ["one/*", "three/*"] });
    expect(await say(session)).toBe("From three.");
    expect(desk.servers["two"]!.requests).toHaveLength(0);
    expect(session.notices.map(({ message }) => message).join()).toContain(
      '"two/m" of retry.fallbackChains is not used',
    );
  });

  test("a model that does not exist is reported and skipped", async () => {
    const desk = await openWireDesk({ one: [refuses(402)], two: [answers("From two.")] });
    const { session } = await desk.open(chain("one/m", "nobody/nothing", "two/m"));
    expect(await say(session)).toBe("From two.");
    expect(session.notices.map(({ message }) => message).join()).toContain('"nobody/nothing" of retry.fallbackChains');
  });

  test("without retries nothing else is asked", async () => {
    const desk = await openWireDesk({ one: [refuses(402)] });
    const { session } = await desk.open({ retry: { ...chain("one/m", "two/m").retry, enabled: false } });
    expect(await say(session)).toBe("billing");
    expect(desk.servers["two"]!.requests).toHaveLength(0);
  });
});

test("a session that is opened again has the model that was selected, not the one that answered", async () => {
  const desk = await openWireDesk({ one: [refuses(402), answers("From one.")], two: [answers("From two.")] });
  const directory = join(desk.agentDir, "sessions");
  const first = await desk.open(chain("one/m", "two/m"), {
    sessionManager: await SessionManager.create(desk.agentDir, directory),
    model: "one/m",
  });
  await say(first.session);
  const entries = await first.session.sessionManager.getEntries();
  const use = entries.find((entry) => entry.type === "custom" && entry.customType === customTypes.modelUsed);
  expect(use).toMatchObject({ data: { provider: "two", modelId: "m", cause: "fallback" } });
  const answer = entries.findLast((entry) => entry.type === "message");
  expect(answer).toMatchObject({ message: { provider: "two" }, selected: { provider: "one", modelId: "m" } });
  const file = first.session.sessionFile!;
  await first.session.dispose();
  await desk.clock.advance(300_000);
  const second = await desk.open(chain("one/m", "two/m"), { sessionManager: await SessionManager.open(file) });
  expect(second.session.model).toMatchObject({ provider: "one", id: "m" });
  expect(await say(second.session)).toBe("From one.");
});
