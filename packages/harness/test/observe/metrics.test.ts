/** Metrics as a meter of an SDK gets them. */
import { type MeterProvider, metrics, type MetricOptions } from "@opentelemetry/api";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { openDesk, sayTool } from "../agent-session/desk.ts";

interface Recorded {
  name: string;
  unit: string | undefined;
  value: number;
  attributes: Record<string, unknown>;
}

/** Registers a meter that keeps what is recorded. With `breaks`, each recording throws. */
function useMeter({ breaks = false } = {}): Recorded[] {
  const recorded: Recorded[] = [];
  const createInstrument = (name: string, { unit }: MetricOptions = {}) => {
    const record = (value: number, attributes: Record<string, unknown>) => {
      if (breaks) throw new Error("The meter is broken.");
      recorded.push({ name, unit, value, attributes });
    };
    return { record, add: record };
  };
  const meter = { createHistogram: createInstrument, createCounter: createInstrument };
  metrics.setGlobalMeterProvider({ getMeter: () => meter } as unknown as MeterProvider);
  onTestFinished(() => metrics.disable());
  return recorded;
}

const model = { provider: "google", id: "small", cost: { input: 1e6, output: 1e6, cacheRead: 0, cacheWrite: 0 } };

test("requests and calls are counted by the names of the conventions, without a tracer", async () => {
  const recorded = useMeter();
  const { session, model: scripted } = await openDesk(
    [
      { content: [call("say"), call("read", { path: "/etc/shadow" })], usage: { input: 2, output: 1, cacheRead: 4 } },
      { content: [text("Done.")], usage: { input: 3, output: 2 } },
    ],
    { customTools: [sayTool("say")], scripted: { model } },
  );
  await session.prompt("Work.");
  const shared = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "gcp.gemini",
    "gen_ai.request.model": scripted.id,
    "gen_ai.response.model": scripted.id,
  };
  const get = (name: string) => recorded.filter((each) => each.name === name).map(({ value }) => value);
  expect(recorded.find(({ name }) => name === "tau.cost")).toEqual({
    name: "tau.cost",
    unit: "{USD}",
    value: 3,
    attributes: shared,
  });
  expect(get("gen_ai.client.token.usage")).toEqual([6, 1, 3, 2]);
  const types = recorded
    .filter(({ name }) => name.endsWith("usage"))
    .map(({ attributes }) => attributes["gen_ai.token.type"]);
  expect(types).toEqual(["input", "output", "input", "output"]);
  expect(get("gen_ai.client.operation.duration")).toHaveLength(2);
  expect(get("tau.cost")).toEqual([3, 5]);
  const calls = recorded.filter(({ name }) => name === "tau.tool.calls").map(({ attributes }) => attributes);
  expect(calls).toEqual(
    expect.arrayContaining([
      { "gen_ai.tool.name": "say", outcome: "ok" },
      { "gen_ai.tool.name": "read", outcome: "denied" },
    ]),
  );
  expect(JSON.stringify(recorded)).not.toContain(session.sessionId);
});

test("a failed request has its time and the kind of its failure, and no tokens", async () => {
  const recorded = useMeter();
  const { session } = await openDesk([{ failure: { kind: "auth", message: "PRIVATE" } }], { scripted: { model } });
  await session.prompt("Work.");
  expect(recorded).toMatchObject([{ name: "gen_ai.client.operation.duration", attributes: { "error.type": "auth" } }]);
  expect(JSON.stringify(recorded)).not.toContain("PRIVATE");
});

test("a meter that throws, and otel.enabled: false, disturb nothing and count nothing", async () => {
  const broken = useMeter({ breaks: true });
  const first = await openDesk([[text("Done.")]], { scripted: { model } });
  expect(await first.session.prompt("Work.")).toMatchObject({ end: { kind: "done" } });
  expect(broken).toEqual([]);
  metrics.disable();
  const recorded = useMeter();
  const second = await openDesk([[text("Done.")]], { scripted: { model }, settings: { otel: { enabled: false } } });
  await second.session.prompt("Work.");
  expect(recorded).toEqual([]);
});
