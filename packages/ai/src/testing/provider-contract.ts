/**
 * The contract of every provider, whatever its API, as cases for any test runner:
 *
 *     for (const { name, run } of providerContract(setup)) test(name, run);
 *
 * Each case sends requests to a real server on loopback.
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
  /** Returns a reasoning model with vision whose base URL is the server's. */
  model: (serverUrl: string) => Model;
  /** For providers with other credentials. Default: an API key. */
  options?: SimpleStreamOptions;
  /** The abilities that this API does not have. */
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
  /** Adds a case. The servers that it starts with `serve` are closed after it. */
  const add = (name: string, check: (serve: (replies: WireReply[]) => Promise<WireServer>) => Promise<void>) => {
    const run = async () => {
      const servers: WireServer[] = [];
      const serve = async (replies: WireReply[]) => {
        const server = await startWireServer(dialect, replies);
        servers.push(server);
        return server;
      };
      await check(serve).finally(() => Promise.all(servers.map((server) => server.close())));
    };
    cases.push({ name: `${dialect.api}: ${name}`, run });
  };
  const start = (server: WireServer, { context = hello, options }: RequestParams = {}) =>
    setup.provider.streamSimple(setup.model(server.url), context, { apiKey: "test-key", ...setup.options, ...options });
  const request = async (server: WireServer, params?: RequestParams) => {
    const stream = start(server, params);
    const events: AssistantMessageEvent[] = [];
    for await (const event of stream) events.push(event);
    return { message: await stream.result(), events };
  };

  add("a text answer has usage, id and stop reason", async (serve) => {
    const usage = { input: 12, output: 7 };
    const { message, events } = await request(await serve([answer({ content: [text("Hello, wörld 🌍!")], usage })]));
    assert.deepEqual(getTexts(message), ["Hello, wörld 🌍!"]);
    assert.equal(message.stopReason, "stop");
    assert.equal(message.usage.input, 12);
    assert.equal(message.usage.output, 7);
    assert.equal(message.usage.totalTokens, 19);
    assert.ok(message.rawStopReason, "the provider's own stop reason is kept");
    assertGrammar(events);
    assert.equal(events.filter(({ type }) => type === "text_delta").length > 1, true, "the text arrives in pieces");
  });

  add("tool calls have their arguments, even in parallel and if the arguments are empty", async (serve) => {
    const content = [
      text("Let me see."),
      call("weather", { place: "Zürich", days: 3, deep: { list: [1, "two", null, true] } }, "call-1"),
      call("now", {}, "call-2"),
    ];
    const { message, events } = await request(await serve([answer({ content })]), {
      context: { ...hello, tools: [weather] },
    });
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
    add("thinking comes before the answer, and its signature is sent back with the next request", async (serve) => {
      const first = answer({ content: [thinking("Let me think…", "c2lnbmF0dXJl"), text("Yes.")] });
      const server = await serve([first, answer({ content: [text("Again.")] })]);
      const { message, events } = await request(server, { options: { reasoning: "high" } });
      const [thinkingBlock, textBlock] = message.content;
      assert.equal(thinkingBlock?.type === "thinking" && thinkingBlock.thinking, "Let me think…");
      assert.equal(textBlock?.type === "text" && textBlock.text, "Yes.");
      assertGrammar(events);
      const messages = [...hello.messages, message, { role: "user" as const, content: "Sure?", timestamp: 2 }];
      await request(server, { context: { ...hello, messages }, options: { reasoning: "high" } });
      assert.ok(JSON.stringify(server.requests[1]?.body).includes("c2lnbmF0dXJl"), "the signature is sent back");
    });
  }

  add("cached tokens are counted separately, and the cost follows the model's prices", async (serve) => {
    const usage = { input: 100, output: 50, cacheRead: 30, ...(cannot.cacheWrites ? {} : { cacheWrite: 20 }) };
    const { message } = await request(await serve([answer({ content: [text("x")], usage })]));
    const { input, cacheRead, cacheWrite, output, cost } = message.usage;
    assert.deepEqual({ input, cacheRead, cacheWrite, output }, { cacheWrite: 0, ...usage });
    assert.ok(cost.total > 0 && Number.isFinite(cost.total));
    assert.equal(cost.total, cost.input + cost.output + cost.cacheRead + cost.cacheWrite);
  });

  add("an answer without content has a start and a done event", async (serve) => {
    const { message, events } = await request(await serve([answer({ content: [] })]));
    assert.equal(message.stopReason, "stop");
    assert.deepEqual(
      events.map(({ type }) => type),
      ["start", "done"],
    );
  });

  add("one connection is reused for many requests", async (serve) => {
    const replies = Array.from({ length: 5 }, () => answer({ content: [text("again")] }));
    const server = await serve(replies);
    for (let turn = 0; turn < replies.length; turn++) {
      const { message } = await request(server);
      assert.deepEqual(getTexts(message), ["again"]);
      // The rest of the response is read in the background.
      for (let wait = 0; wait < 20; wait++) await nextTurn();
    }
    assert.equal(server.connections, 1);
  });

  add("a complete answer stays complete if the connection is dropped after it", async (serve) => {
    const frames = dialect.answer({ id: "a", model: "m", content: [text("Done.")] });
    const { message } = await request(await serve([{ kind: "raw", chunks: frames, ending: "cut" }]), {
      options: { maxRetries: 0 },
    });
    assert.deepEqual(getTexts(message), ["Done."]);
    assert.equal(message.stopReason, "stop");
  });

  add("only tools with invalid or duplicate names are left out", async (serve) => {
    const server = await serve([answer({ content: [text("x")] })]);
    const tools = [weather, weather, { ...weather, name: "no spaces, please" }];
    const options = { toolChoice: { name: "missing" } };
    const { message } = await request(server, { context: { ...hello, tools }, options });
    const types = message.diagnostics?.map(({ type }) => type) ?? [];
    assert.deepEqual(types.sort(), ["option_ignored", "tool_left_out", "tool_left_out"]);
    assert.equal(JSON.stringify(server.requests[0]!.body).split('"weather"').length, 2);
  });

  add("a blank system prompt is not sent", async (serve) => {
    const server = await serve([answer({ content: [text("x")] })]);
    await request(server, { context: { ...hello, systemPrompt: " \n" } });
    assert.equal(JSON.stringify(server.requests[0]!.body).includes(" \\n"), false);
  });

  add("an answer cut off by its maximum length has the stop reason length", async (serve) => {
    const { message } = await request(await serve([answer({ content: [text("To be")], stopReason: "length" })]));
    assert.equal(message.stopReason, "length");
  });

  add("a refusal is a failure of kind refused", async (serve) => {
    const { message } = await request(await serve([answer({ content: [], stopReason: "refused" })]));
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
    add(`status ${status} is ${kind} and keeps the provider's message`, async (serve) => {
      const body = dialect.errorBody(status, "the provider's message");
      const { message } = await request(await serve([{ kind: "status", status, body }]), {
        options: { maxRetries: 0 },
      });
      assert.equal(message.failure?.kind, kind);
      assert.match(message.errorMessage ?? "", /the provider's message/);
      assert.equal(message.stopReason, "error");
    });
  }

  add("a rate-limited request is retried after the delay that the server asks for", async (serve) => {
    const limited: WireReply = { kind: "status", status: 429, headers: { "retry-after": "7" } };
    const server = await serve([limited, answer({ content: [text("At last.")] })]);
    const clock = createFakeClock();
    const waits: number[] = [];
    const setTimer: Clock["setTimer"] = (afterMs, fire) => {
      waits.push(afterMs);
      return clock.setTimer(afterMs, fire);
    };
    const pending = request(server, { options: { clock: { ...clock, setTimer } } });
    while (!waits.includes(7_000)) await nextTurn();
    await clock.advance(7_000);
    const { message } = await pending;
    assert.deepEqual(getTexts(message), ["At last."]);
    assert.equal(server.requests.length, 2);
    assert.equal(message.diagnostics?.[0]?.type, "retried");
  });

  add("a failure inside a stream keeps the received content and is not retried", async (serve) => {
    const frames = dialect.answer({ id: "a", model: "m", content: [text("Half an ans")] });
    const chunks = [...frames.slice(0, 3), dialect.streamError("overloaded", "too busy")];
    const server = await serve([{ kind: "raw", chunks, ending: "end" }]);
    const { message, events } = await request(server);
    assert.equal(message.stopReason, "error");
    assert.equal(message.failure?.kind, "overloaded");
    assert.match(message.errorMessage ?? "", /too busy/);
    assert.equal(server.requests.length, 1);
    assertGrammar(events);
  });

  add(
    "a connection that is dropped anywhere is an error, and an incomplete call is never executable",
    async (serve) => {
      const complete: ScriptedAnswer = { content: [text("Words."), call("weather", { place: "Rome" }, "call-1")] };
      const frames = dialect.answer({ id: "a", model: "m", ...complete }).length;
      const counts = Array.from({ length: Math.max(0, frames - 3) }, (_unused, index) => index);
      const server = await serve(counts.map((count) => ({ kind: "cut", answer: complete, frames: count })));
      for (const count of counts) {
        const { message, events } = await request(server, { options: { maxRetries: 0 } });
        assertGrammar(events);
        if (message.stopReason !== "error") {
          // If only closing frames are missing, the answer is complete.
          assert.deepEqual(getTexts(message), ["Words."], `dropped after ${count} frames`);
          continue;
        }
        for (const block of message.content) {
          if (block.type !== "toolCall") continue;
          assert.ok(
            block.argumentsError !== undefined || block.arguments["place"] === "Rome",
            `dropped after ${count} frames`,
          );
        }
      }
    },
  );

  add("aborting ends the stream and the connection at once", async (serve) => {
    const frames = dialect.answer({ id: "a", model: "m", content: [text("One two three four five six")] });
    const server = await serve([{ kind: "raw", chunks: frames.slice(0, 4), ending: "hang" }]);
    const abort = new AbortController();
    const stream = start(server, { options: { signal: abort.signal } });
    const events: AssistantMessageEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === "text_delta") abort.abort();
    }
    const message = await stream.result();
    assert.equal(message.stopReason, "aborted");
    assert.equal(message.failure?.kind, "aborted");
    assert.ok(getTexts(message)[0]?.startsWith("One"), "the received text is kept");
    assertGrammar(events);
    await server.clientLeft();
  });

  add("a request that was aborted before it began is not sent", async (serve) => {
    const server = await serve([answer({ content: [text("x")] })]);
    const { message } = await request(server, { options: { signal: AbortSignal.abort() } });
    assert.equal(message.stopReason, "aborted");
    assert.equal(server.requests.length, 0);
  });

  for (const [name, schedule] of [
    ["a hook that aborts the request and then hangs does not block the abort", (abort: () => void) => abort()],
    ["a hook that never returns does not block an abort", setImmediate],
  ] as const) {
    add(name, async (serve) => {
      const abort = new AbortController();
      const onPayload = () => {
        schedule(() => abort.abort());
        return new Promise<never>(() => undefined);
      };
      const { message } = await request(await serve([]), { options: { signal: abort.signal, onPayload } });
      assert.equal(message.stopReason, "aborted");
    });
  }

  add("a server that only sends pings runs into the idle timeout", async (serve) => {
    const server = await serve([{ kind: "raw", chunks: [dialect.ping, dialect.ping], ending: "hang" }]);
    const clock = createFakeClock();
    const pending = request(server, { options: { clock, idleTimeoutMs: 120_000, maxRetries: 0 } });
    while (server.requests.length < 1) await nextTurn();
    await clock.advance(120_000);
    const { message } = await pending;
    assert.equal(message.failure?.kind, "idle_timeout");
    assert.match(message.errorMessage ?? "", /120 s/);
  });

  for (const [name, chunks] of [
    ["an HTML page", ["<!doctype html><html><head><title>502 Bad Gateway</title></head></html>"]],
    ["a JSON document", ['{"object":"something else"}']],
    ["an empty body", []],
    ["an error with status 200", [dialect.errorBody(500, "boom")]],
  ] as const) {
    add(`${name} instead of a stream is an error`, async (serve) => {
      const reply: WireReply = { kind: "raw", chunks: [...chunks], ending: "end" };
      const { message } = await request(await serve([reply]), { options: { maxRetries: 0 } });
      assert.equal(message.stopReason, "error");
      assert.ok(message.errorMessage);
    });
  }

  add("a redirect to another host is not followed, because the request carries a key", async (serve) => {
    const other = await serve([answer({ content: [text("Thanks for the key.")] })]);
    const location = `${other.url.replace("127.0.0.1", "localhost")}/elsewhere`;
    const reply: WireReply = { kind: "status", status: 307, headers: { location } };
    const { message } = await request(await serve([reply]));
    assert.equal(message.stopReason, "error");
    assert.equal(other.requests.length, 0);
  });

  add("the hooks get the payload and the response, and can replace the payload", async (serve) => {
    const server = await serve([answer({ content: [text("x")] })]);
    const statuses: unknown[] = [];
    await request(server, {
      options: {
        onPayload: (payload) => ({ ...(payload as object), extra_field: 1 }),
        onResponse: ({ status }) => void statuses.push(status),
      },
    });
    assert.equal((server.requests[0]!.body as { extra_field?: number }).extra_field, 1);
    assert.deepEqual(statuses, [200]);
  });

  add("a hook that throws fails the request", async (serve) => {
    const onPayload = () => {
      throw new Error("hook broke");
    };
    const { message } = await request(await serve([answer({ content: [text("x")] })]), {
      options: { onPayload },
    });
    assert.equal(message.stopReason, "error");
    assert.match(message.errorMessage ?? "", /hook broke/);
  });

  add("headers can be added and removed", async (serve) => {
    const server = await serve([answer({ content: [text("x")] })]);
    await request(server, {
      options: { headers: { "X-Extra": "yes", "content-type": "application/json; x=1", accept: null } },
    });
    assert.equal(server.requests[0]?.headers["x-extra"], "yes");
    assert.equal(server.requests[0]?.headers["content-type"], "application/json; x=1");
    assert.equal(server.requests[0]?.headers["accept"], undefined);
  });

  return cases;
}

const answer = (scriptedAnswer: ScriptedAnswer): WireReply => ({ kind: "answer", answer: scriptedAnswer });

const getTexts = (message: AssistantMessage) =>
  message.content.filter((block) => block.type === "text").map((block) => block.text);

interface RequestParams {
  context?: Context;
  options?: SimpleStreamOptions;
}

/** Checks the order of events: one `start` first, blocks that open and close once, one terminal event last. */
export function assertGrammar(events: readonly AssistantMessageEvent[]): void {
  const open = new Map<number, string>();
  events.forEach((event, index) => {
    const isTerminal = event.type === "done" || event.type === "error";
    assert.equal(isTerminal, index === events.length - 1, `${event.type} at ${index} of ${events.length}`);
    if (isTerminal) return;
    assert.equal(event.type === "start", index === 0, `start comes first, not ${event.type}`);
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

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
