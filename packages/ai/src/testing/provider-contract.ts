/**
 * What every provider must do, whatever it speaks, as cases for any test runner:
 *
 *     for (const { name, run } of providerContract(setup)) test(name, run);
 *
 * Each case talks to a real server on loopback.
 */
import assert from "node:assert/strict";
import type { Context } from "../context.ts";
import type { AssistantMessageEvent } from "../event.ts";
import type { AssistantMessage } from "../message.ts";
import type { Model } from "../model.ts";
import type { SimpleStreamOptions } from "../options.ts";
import type { ApiProvider } from "../registry.ts";
import type { WireDialect } from "./dialects/dialect.ts";
import type { Clock } from "../clock.ts";
import { createFakeClock } from "./fake-clock.ts";
import { call, type ScriptedAnswer, text, thinking } from "./script.ts";
import { startWireServer, type WireReply, type WireServer } from "./wire-server.ts";

export interface ProviderContractSetup {
  provider: ApiProvider;
  dialect: WireDialect;
  /** A reasoning model with vision whose base URL points at the server. */
  model: (serverUrl: string) => Model;
  /** Default: an API key. For providers with other credentials. */
  options?: SimpleStreamOptions;
  /** What this API cannot say. */
  cannot?: { thinking?: boolean; redactedThinking?: boolean; cacheWrites?: boolean; toolCallIds?: boolean };
}

export interface ContractCase {
  name: string;
  run: () => Promise<void>;
}

const hello: Context = { systemPrompt: "Be brief.", messages: [{ role: "user", content: "Hello", timestamp: 1 }] };

const weather = {
  name: "weather",
  description: "The weather of a place",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
};

export function providerContract(setup: ProviderContractSetup): ContractCase[] {
  const { dialect, cannot = {} } = setup;
  const cases: ContractCase[] = [];
  const add = (name: string, run: () => Promise<void>) => cases.push({ name: `${dialect.api}: ${name}`, run });

  add("a plain answer arrives as text, with usage, id and reason", async () => {
    const usage = { input: 12, output: 7 };
    const { message, events } = await ask(setup, [answer({ content: [text("Hello, wörld 🌍!")], usage })]);
    assert.deepEqual(texts(message), ["Hello, wörld 🌍!"]);
    assert.equal(message.stopReason, "stop");
    assert.equal(message.usage.input, 12);
    assert.equal(message.usage.output, 7);
    assert.equal(message.usage.totalTokens, 19);
    assert.ok(message.rawStopReason, "the provider's own reason is kept");
    assertGrammar(events);
    assert.equal(events.filter(({ type }) => type === "text_delta").length > 1, true, "the text arrives in pieces");
  });

  add("tool calls arrive with their arguments, also in parallel and without any", async () => {
    const content = [
      text("Let me see."),
      call("weather", { place: "Zürich", days: 3, deep: { list: [1, "two", null, true] } }, "call-1"),
      call("now", {}, "call-2"),
    ];
    const { message, events } = await ask(setup, [answer({ content })], { context: { ...hello, tools: [weather] } });
    const calls = message.content.filter((block) => block.type === "toolCall");
    assert.deepEqual(
      calls.map(({ name, arguments: args }) => ({ name, args })),
      [
        { name: "weather", args: { place: "Zürich", days: 3, deep: { list: [1, "two", null, true] } } },
        { name: "now", args: {} },
      ],
    );
    if (!cannot.toolCallIds)
      assert.deepEqual(
        calls.map(({ id }) => id.split("|")[0]),
        ["call-1", "call-2"],
      );
    assert.equal(new Set(calls.map(({ id }) => id)).size, 2, "ids differ");
    assert.ok(calls.every(({ argumentsError }) => argumentsError === undefined));
    assert.equal(message.stopReason, "toolUse");
    assertGrammar(events);
  });

  if (!cannot.thinking) {
    add("thinking arrives before the answer, and its signature goes back with the next request", async () => {
      const first = answer({ content: [thinking("Let me think…", "c2lnbmF0dXJl"), text("Yes.")] });
      const server = await startWireServer(dialect, [first, answer({ content: [text("Again.")] })]);
      try {
        const { message, events } = await askServer(setup, server, { options: { reasoning: "high" } });
        const [thought, said] = message.content;
        assert.equal(thought?.type === "thinking" && thought.thinking, "Let me think…");
        assert.equal(said?.type === "text" && said.text, "Yes.");
        assertGrammar(events);
        const messages = [...hello.messages, message, { role: "user" as const, content: "Sure?", timestamp: 2 }];
        await askServer(setup, server, { context: { ...hello, messages }, options: { reasoning: "high" } });
        assert.ok(JSON.stringify(server.requests[1]?.body).includes("c2lnbmF0dXJl"), "the signature is sent back");
      } finally {
        await server.close();
      }
    });
  }

  add("cached tokens are counted apart and every count costs what the model's prices say", async () => {
    const usage = { input: 100, output: 50, cacheRead: 30, ...(cannot.cacheWrites ? {} : { cacheWrite: 20 }) };
    const { message } = await ask(setup, [answer({ content: [text("x")], usage })]);
    const { input, cacheRead, cacheWrite, output, cost } = message.usage;
    assert.deepEqual({ input, cacheRead, cacheWrite, output }, { cacheWrite: 0, ...usage });
    assert.ok(cost.total > 0 && Number.isFinite(cost.total));
    assert.equal(cost.total, cost.input + cost.output + cost.cacheRead + cost.cacheWrite);
  });

  add("an answer without content is an answer: it starts and it is done", async () => {
    const { message, events } = await ask(setup, [answer({ content: [] })]);
    assert.equal(message.stopReason, "stop");
    assert.deepEqual(
      events.map(({ type }) => type),
      ["start", "done"],
    );
  });

  add("connections are kept: one serves many requests", async () => {
    const replies = Array.from({ length: 5 }, () => answer({ content: [text("again")] }));
    const server = await startWireServer(dialect, replies);
    try {
      for (let turn = 0; turn < replies.length; turn++) {
        const { message } = await askServer(setup, server);
        assert.deepEqual(texts(message), ["again"]);
        // What is left of the response is read behind the caller's back.
        for (let wait = 0; wait < 20; wait++) await soon();
      }
      assert.equal(server.connections, 1);
    } finally {
      await server.close();
    }
  });

  add("a complete answer stays complete when the connection is dropped behind it", async () => {
    const frames = dialect.answer({ id: "a", model: "m", content: [text("Done.")] });
    const { message } = await ask(setup, [{ kind: "raw", chunks: frames, ending: "cut" }], {
      options: { maxRetries: 0 },
    });
    assert.deepEqual(texts(message), ["Done."]);
    assert.equal(message.stopReason, "stop");
  });

  add("tools whose names are not accepted or stand twice are left out alone", async () => {
    const server = await startWireServer(dialect, [answer({ content: [text("x")] })]);
    try {
      const tools = [weather, weather, { ...weather, name: "no spaces, please" }];
      const options = { toolChoice: { name: "missing" } };
      const { message } = await askServer(setup, server, { context: { ...hello, tools }, options });
      const types = message.diagnostics?.map(({ type }) => type) ?? [];
      assert.deepEqual(types.sort(), ["option_ignored", "tool_left_out", "tool_left_out"]);
      assert.equal(JSON.stringify(server.requests[0]!.body).split('"weather"').length, 2);
    } finally {
      await server.close();
    }
  });

  add("a blank system prompt is none", async () => {
    const server = await startWireServer(dialect, [answer({ content: [text("x")] })]);
    try {
      await askServer(setup, server, { context: { ...hello, systemPrompt: " \n" } });
      assert.equal(JSON.stringify(server.requests[0]!.body).includes(" \\n"), false);
    } finally {
      await server.close();
    }
  });

  add("an answer cut by its length says so", async () => {
    const { message } = await ask(setup, [answer({ content: [text("To be")], stopReason: "length" })]);
    assert.equal(message.stopReason, "length");
  });

  add("a refusal is a failure of its own kind", async () => {
    const { message } = await ask(setup, [answer({ content: [], stopReason: "refused" })]);
    assert.equal(message.stopReason, "error");
    assert.equal(message.failure?.kind, "refused");
  });

  for (const [status, kind] of [
    [400, "invalid_request"],
    [401, "auth"],
    [403, "auth"],
    [402, "billing"],
    [413, "context_overflow"],
    [429, "rate_limited"],
    [500, "overloaded"],
    [503, "overloaded"],
    [529, "overloaded"],
  ] as const) {
    add(`status ${status} is ${kind} and says why`, async () => {
      const body = dialect.errorBody(status, "the words of the provider");
      const { message } = await ask(setup, [{ kind: "status", status, body }], { options: { maxRetries: 0 } });
      assert.equal(message.failure?.kind, kind);
      assert.match(message.errorMessage ?? "", /the words of the provider/);
      assert.equal(message.stopReason, "error");
    });
  }

  add("a rate limit is waited out for as long as the server asks, and then succeeds", async () => {
    const limited: WireReply = { kind: "status", status: 429, headers: { "retry-after": "7" } };
    const server = await startWireServer(dialect, [limited, answer({ content: [text("At last.")] })]);
    try {
      const clock = createFakeClock();
      const waits: number[] = [];
      const setTimer: Clock["setTimer"] = (afterMs, fire) => {
        waits.push(afterMs);
        return clock.setTimer(afterMs, fire);
      };
      const asking = askServer(setup, server, { options: { clock: { ...clock, setTimer } } });
      while (!waits.includes(7_000)) await soon();
      await clock.advance(7_000);
      const { message } = await asking;
      assert.deepEqual(texts(message), ["At last."]);
      assert.equal(server.requests.length, 2);
      assert.equal(message.diagnostics?.[0]?.type, "retried");
    } finally {
      await server.close();
    }
  });

  add("a failure in the middle of a stream keeps what came and is not repeated", async () => {
    const frames = dialect.answer({ id: "a", model: "m", content: [text("Half an ans")] });
    const chunks = [...frames.slice(0, 3), dialect.streamError("overloaded", "too busy")];
    const server = await startWireServer(dialect, [{ kind: "raw", chunks, ending: "end" }]);
    try {
      const { message, events } = await askServer(setup, server);
      assert.equal(message.stopReason, "error");
      assert.equal(message.failure?.kind, "overloaded");
      assert.match(message.errorMessage ?? "", /too busy/);
      assert.equal(server.requests.length, 1);
      assertGrammar(events);
    } finally {
      await server.close();
    }
  });

  add("a connection cut anywhere is an error, never a complete answer, and half a call is not a call", async () => {
    const whole: ScriptedAnswer = { content: [text("Words."), call("weather", { place: "Rome" }, "call-1")] };
    const frames = dialect.answer({ id: "a", model: "m", ...whole }).length;
    const cuts = Array.from({ length: Math.max(0, frames - 3) }, (_unused, at) => at);
    const server = await startWireServer(
      dialect,
      cuts.map((at) => ({ kind: "cut", answer: whole, frames: at })),
    );
    try {
      for (const at of cuts) {
        const { message, events } = await askServer(setup, server, { options: { maxRetries: 0 } });
        assertGrammar(events);
        if (message.stopReason !== "error") {
          // Only the closing frames may be missing: then the answer is whole.
          assert.deepEqual(texts(message), ["Words."], `cut after ${at} frames`);
          continue;
        }
        for (const block of message.content) {
          if (block.type !== "toolCall") continue;
          assert.ok(
            block.argumentsError !== undefined || block.arguments["place"] === "Rome",
            `cut after ${at} frames`,
          );
        }
      }
    } finally {
      await server.close();
    }
  });

  add("aborting ends the stream and the connection at once", async () => {
    const frames = dialect.answer({ id: "a", model: "m", content: [text("One two three four five six")] });
    const server = await startWireServer(dialect, [{ kind: "raw", chunks: frames.slice(0, 4), ending: "hang" }]);
    try {
      const abort = new AbortController();
      const stream = start(setup, server, { options: { signal: abort.signal } });
      const events: AssistantMessageEvent[] = [];
      for await (const event of stream) {
        events.push(event);
        if (event.type === "text_delta") abort.abort();
      }
      const message = await stream.result();
      assert.equal(message.stopReason, "aborted");
      assert.equal(message.failure?.kind, "aborted");
      assert.ok(texts(message)[0]?.startsWith("One"), "what came is kept");
      assertGrammar(events);
      await server.clientLeft();
    } finally {
      await server.close();
    }
  });

  add("a request that was aborted before it began asks nobody", async () => {
    const server = await startWireServer(dialect, [answer({ content: [text("x")] })]);
    try {
      const { message } = await askServer(setup, server, { options: { signal: AbortSignal.abort() } });
      assert.equal(message.stopReason, "aborted");
      assert.equal(server.requests.length, 0);
    } finally {
      await server.close();
    }
  });

  add("a hook that aborts and then hangs cannot hold its request either", async () => {
    const abort = new AbortController();
    const onPayload = () => {
      abort.abort();
      return new Promise<never>(() => undefined);
    };
    const { message } = await ask(setup, [], { options: { signal: abort.signal, onPayload } });
    assert.equal(message.stopReason, "aborted");
  });

  add("a hook that never returns cannot hold a request that is aborted", async () => {
    const server = await startWireServer(dialect, []);
    try {
      const abort = new AbortController();
      const hung = new Promise<never>(() => undefined);
      const onPayload = () => {
        setImmediate(() => abort.abort());
        return hung;
      };
      const { message } = await askServer(setup, server, { options: { signal: abort.signal, onPayload } });
      assert.equal(message.stopReason, "aborted");
    } finally {
      await server.close();
    }
  });

  add("pings do not count as content: a server that only pings is idle", async () => {
    const server = await startWireServer(dialect, [
      { kind: "raw", chunks: [dialect.ping, dialect.ping], ending: "hang" },
    ]);
    try {
      const clock = createFakeClock();
      const asking = askServer(setup, server, { options: { clock, idleTimeoutMs: 120_000, maxRetries: 0 } });
      while (server.requests.length < 1) await soon();
      await clock.advance(120_000);
      const { message } = await asking;
      assert.equal(message.failure?.kind, "idle_timeout");
      assert.match(message.errorMessage ?? "", /120 s/);
    } finally {
      await server.close();
    }
  });

  for (const [what, chunks] of [
    ["an HTML page", ["<!doctype html><html><head><title>502 Bad Gateway</title></head></html>"]],
    ["a JSON document", ['{"object":"something else"}']],
    ["an empty body", []],
    ["an error with status 200", [dialect.errorBody(500, "boom")]],
  ] as const) {
    add(`${what} in place of a stream is an error`, async () => {
      const reply: WireReply = { kind: "raw", chunks: [...chunks], ending: "end" };
      const { message } = await ask(setup, [reply], { options: { maxRetries: 0 } });
      assert.equal(message.stopReason, "error");
      assert.ok(message.errorMessage);
    });
  }

  add("a redirect to another host is not followed, so the key stays home", async () => {
    const other = await startWireServer(dialect, [answer({ content: [text("Thanks for the key.")] })]);
    try {
      const location = `${other.url.replace("127.0.0.1", "localhost")}/elsewhere`;
      const reply: WireReply = { kind: "status", status: 307, headers: { location } };
      const { message } = await ask(setup, [reply]);
      assert.equal(message.stopReason, "error");
      assert.equal(other.requests.length, 0);
    } finally {
      await other.close();
    }
  });

  add("the hooks see the payload and the response, and may replace the payload", async () => {
    const server = await startWireServer(dialect, [answer({ content: [text("x")] })]);
    try {
      const seen: unknown[] = [];
      await askServer(setup, server, {
        options: {
          onPayload: (payload) => ({ ...(payload as object), extra_field: 1 }),
          onResponse: ({ status }) => void seen.push(status),
        },
      });
      assert.equal((server.requests[0]!.body as { extra_field?: number }).extra_field, 1);
      assert.deepEqual(seen, [200]);
    } finally {
      await server.close();
    }
  });

  add("a hook that throws is an error of the request, not of the process", async () => {
    const onPayload = () => {
      throw new Error("hook broke");
    };
    const { message } = await ask(setup, [answer({ content: [text("x")] })], { options: { onPayload } });
    assert.equal(message.stopReason, "error");
    assert.match(message.errorMessage ?? "", /hook broke/);
  });

  add("headers can be added and removed", async () => {
    const server = await startWireServer(dialect, [answer({ content: [text("x")] })]);
    try {
      await askServer(setup, server, {
        options: { headers: { "X-Extra": "yes", "content-type": "application/json; x=1", accept: null } },
      });
      assert.equal(server.requests[0]?.headers["x-extra"], "yes");
      assert.equal(server.requests[0]?.headers["content-type"], "application/json; x=1");
      assert.equal(server.requests[0]?.headers["accept"], undefined);
    } finally {
      await server.close();
    }
  });

  return cases;
}

const answer = (scripted: ScriptedAnswer): WireReply => ({ kind: "answer", answer: scripted });

const texts = (message: AssistantMessage) =>
  message.content.filter((block) => block.type === "text").map((block) => block.text);

interface Asking {
  context?: Context;
  options?: SimpleStreamOptions;
}

function start(setup: ProviderContractSetup, server: WireServer, asking: Asking = {}) {
  const options = { apiKey: "test-key", ...setup.options, ...asking.options };
  return setup.provider.streamSimple(setup.model(server.url), asking.context ?? hello, options);
}

async function askServer(setup: ProviderContractSetup, server: WireServer, asking: Asking = {}) {
  const stream = start(setup, server, asking);
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  return { message: await stream.result(), events };
}

async function ask(setup: ProviderContractSetup, replies: WireReply[], asking: Asking = {}) {
  const server = await startWireServer(setup.dialect, replies);
  try {
    return await askServer(setup, server, asking);
  } finally {
    await server.close();
  }
}

/** Checks the order of events: one `start` first, blocks that open and close once, one terminal event last. */
export function assertGrammar(events: readonly AssistantMessageEvent[]): void {
  const open = new Map<number, string>();
  events.forEach((event, at) => {
    const terminal = event.type === "done" || event.type === "error";
    assert.equal(terminal, at === events.length - 1, `${event.type} at ${at} of ${events.length}`);
    if (terminal) return;
    assert.equal(event.type === "start", at === 0, `start comes first, not ${event.type}`);
    if (event.type === "start") return;
    const [kind = "", phase] = event.type.split("_");
    if (phase === "start") {
      assert.equal(open.has(event.contentIndex), false, "a block opens once");
      open.set(event.contentIndex, kind);
    } else {
      assert.equal(open.get(event.contentIndex), kind, `${event.type} belongs to an open block`);
      if (phase === "end") open.delete(event.contentIndex);
    }
  });
  assert.equal(open.size, 0, "every block that opened has closed");
}

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));
