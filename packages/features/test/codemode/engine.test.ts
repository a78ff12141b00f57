/** Scripts in the engine, among them hostile ones. */
import { createFakeClock } from "@tau/ai/testing";
import { systemClock } from "@tau/ai";
import { expect, test } from "vitest";
import { runScript, type Script, scriptLimits } from "../../src/codemode/engine/run-script.ts";
import { Slots } from "../../src/codemode/engine/slots.ts";

const echo: Script["call"] = async (method, args) => {
  const { name, args: given } = args as { name: string; args: unknown };
  if (name === "fail") throw new Error("It failed.");
  return { method, name, given };
};
const tools = ["echo", "fail"].map((name) => ({ name, identifier: name, description: `The tool ${name}.` }));

async function run(code: string, more: Partial<Script> & { store?: Record<string, string> } = {}, environment = {}) {
  const { store = {}, ...rest } = more;
  const result = await runScript({ code, setup: { tools, store }, call: echo, ...rest }, environment);
  const texts = result.items.map((item) => (item.kind === "image" ? `[${item.mimeType}]` : item.text));
  const message = result.end.kind === "failed" ? result.end.message : undefined;
  return { ...result, texts, message };
}

test.each<[what: string, code: string, texts: string[]]>([
  ["a text", `text("a")`, ["a"]],
  ["a value", `text({ a: [1, "b"] })`, ['{"a":[1,"b"]}']],
  ["undefined", `text(undefined)`, ["undefined"]],
  ["a result", `return 7`, ["7"]],
  ["no result", `1 + 1`, []],
  ["await", `return await Promise.all([1, Promise.resolve(2)])`, ["[1,2]"]],
  ["a log", `console.log("a", 1, { b: 2 }); console.error("c")`, ['a 1 {"b":2}', "c"]],
  ["exit", `text("a"); exit(); text("b")`, ["a"]],
  ["an exit that is caught", `try { exit() } catch {} text("b"); while (true) {}`, []],
  ["text that a terminal would act on, and NUL", `text("a\\u0000\\u001b[31mb")`, ["a\u0000\u001B[31mb"]],
  ["half a character", `text("\\ud83d")`, ["\uFFFD"]],
  ["a call", `return await tools.echo({ x: 1 })`, ['{"method":"tool","name":"echo","given":{"x":1}}']],
  ["a call without arguments", `return (await tools.echo()).given`, ["{}"]],
  [
    "calls together",
    `return (await Promise.all([1, 2, 3].map((x) => tools.echo({ x })))).map((r) => r.given.x)`,
    ["[1,2,3]"],
  ],
  [
    "a call that fails",
    `try { await tools.fail() } catch (e) { return [e instanceof Error, e.message] }`,
    ['[true,"It failed."]'],
  ],
  [
    "the tools",
    `return [Object.keys(tools), ALL_TOOLS]`,
    [JSON.stringify([["echo", "fail"], tools.map(({ name, description }) => ({ name, description }))])],
  ],
  [
    "an image",
    `image("data:image/png;base64,AAAA"); image({ image_url: "data:image/gif;base64,AAAA" }); image({ type: "image", data: "AAAA", mimeType: "image/webp" })`,
    ["[image/png]", "[image/gif]", "[image/webp]"],
  ],
  ["a value that was stored", `store("n", load("n") + 1); return load("n")`, ["3"]],
])("%s", async (_what, code, texts) => {
  const result = await run(code, { store: { n: "2" } });
  expect(result.message).toBeUndefined();
  expect(result.texts).toEqual(texts);
});

test("changes of stored values are handed over by a script that completes, and by no other", async () => {
  const code = `store("a", { x: 1 }); store("b", 1); store("b", undefined); store("__proto__", 2);`;
  expect((await run(code)).end).toEqual({
    kind: "completed",
    changes: [
      { key: "a", json: '{"x":1}' },
      { key: "__proto__", json: "2" },
    ],
  });
  expect((await run(`store("old", 1); store("old", undefined)`, { store: { old: "0" } })).end).toEqual({
    kind: "completed",
    changes: [{ key: "old", json: null }],
  });
  expect((await run(`${code} throw new Error("no")`)).end).toEqual({ kind: "failed", message: expect.any(String) });
});

test.each<[what: string, code: string, message: RegExp]>([
  ["a value that fails when it is read", "throw new Proxy({}, { get() { throw 1; } })", /cannot be read/],
  ["an error", `\nthrow new TypeError("bad")`, /^TypeError: bad \(line 2\)$/],
  ["anything that is thrown", `throw { a: 1 }`, /^\{"a":1\}$/],
  ["a syntax error", `const = 1`, /^SyntaxError: /],
  ["a bracket too many", `}); (`, /^SyntaxError: /],
  ["a promise that never settles", `text("a"); await new Promise(() => {})`, /nothing will ever settle/],
  ["deep recursion", `const f = () => f() + 1; f()`, /^(?:RangeError|InternalError): /],
  ["deep JSON", `return JSON.parse("[".repeat(1e5) + "]".repeat(1e5))`, /^RangeError: /],
  ["a result without an end", `const a = { get a() { return JSON.stringify(a) } }; return a`, /^RangeError: /],
  ["a value that is not JSON", `text(1n)`, /TypeError/],
  ["an image of another kind", `image("data:image/svg+xml;base64,AAAA")`, /PNG, JPEG, GIF and WebP/],
  ["an image from elsewhere", `image("https://example.org/a.png")`, /takes a base64 data: URL/],
  ["an image that is damaged", `image({ data: "<>", mimeType: "image/png" })`, /not base64/],
  ["a large value", `store("a", "x".repeat(262143))`, /262144 characters/],
  ["many values", `for (let i = 0; i < 9; i++) store("k" + i, "x".repeat(200000))`, /1048576 characters/],
  ["a key that is not a text", `store(1, 1)`, /must be a text/],
  ["a tool that does not exist", `await tools.other({})`, /^TypeError: /],
])("%s fails", async (_what, code, message) => {
  expect((await run(code)).message).toMatch(message);
});

test("a script that is too deep can catch that and continue, whatever it is deep in", async () => {
  const result = await run(`
    let array = []; for (let i = 0; i < 1e5; i++) array = [array];
    const f = () => f() + 1;
    const endless = { get part() { return JSON.stringify(endless) } };
    const attempts = [
      f,
      () => JSON.stringify(endless),
      () => array.flat(Infinity),
      () => JSON.parse("[".repeat(1e5) + "]".repeat(1e5)),
      () => (0, eval)("(".repeat(1e5) + ")".repeat(1e5)),
    ];
    for (const attempt of attempts) try { attempt(); text("no error") } catch (error) { text(error.name) }
    return (await tools.echo({ x: 1 })).given.x`);
  expect(result.message).toBeUndefined();
  expect(result.texts).toEqual([...Array.from({ length: 5 }, () => "RangeError"), "1"]);
});

test.each<[what: string, code: string]>([
  ["a loop", `for (;;) {}`],
  ["a loop that catches everything", `for (;;) try { for (;;) {} } catch {}`],
  ["promises without end", `const f = () => Promise.resolve().then(f); await f()`],
  ["a generator in finally", `function* g() { try { yield } finally { for (;;) {} } } for (const _ of g()) break`],
  ["a slow expression", `/^(a+)+$/.test("a".repeat(64) + "b")`],
  ["a builtin that takes long", `new Array(2e6).fill(0).map((_, i) => 2e6 - i).sort((a, b) => a - b); for (;;) {}`],
  ["a call that never returns", `await tools.echo()`],
])("%s is stopped by an abort, and keeps its output", async (_what, code) => {
  const abort = new AbortController();
  const call = () => new Promise(() => {});
  const result = await run(`text("before"); await tools.fail().catch(() => {}); ${code}`, {
    signal: abort.signal,
    call: (_method, args) => ((args as { name: string }).name === "fail" ? Promise.reject(new Error("no")) : call()),
    onOutput: () => void systemClock.setTimer(20, () => abort.abort()),
  });
  expect(result.message).toBe("The script was aborted.");
  expect(result.texts).toEqual(["before"]);
});

test("an abort interrupts a script that computes without waiting for the clock", async () => {
  const abort = new AbortController();
  const result = await run(
    `text("before"); await tools.fail().catch(() => {}); for (;;) {}`,
    { signal: abort.signal, onOutput: () => void setImmediate(() => abort.abort()) },
    { clock: createFakeClock() },
  );
  expect([result.message, result.texts]).toEqual(["The script was aborted.", ["before"]]);
});

test("an abort ends the worker of a script that only waits after 100 milliseconds", async () => {
  const clock = createFakeClock();
  const slots = new Slots(1);
  const abort = new AbortController();
  const started: string[] = [];
  const call = () => new Promise(() => void started.push("call"));
  const result = run(`await tools.echo()`, { signal: abort.signal, call }, { clock, slots });
  await expect.poll(() => started).toEqual(["call"]);
  abort.abort();
  await clock.advance(100);
  expect((await result).message).toBe("The script was aborted.");
  // The only slot is free again, which it is when the thread has ended.
  expect((await run(`return 1`, {}, { slots })).texts).toEqual(["1"]);
});

test.each<[what: string, code: string]>([
  ["an array", `const a = []; for (;;) a.push(new Uint8Array(1e5))`],
  ["a text", `const a = []; for (;;) a.push("x".repeat(1e4))`],
  ["objects in a loop that catches everything", `const a = []; for (;;) try { a.push({ a }) } catch (e) { throw e }`],
])("%s that fills the memory fails", async (_what, code) => {
  const limits = { ...scriptLimits, memoryBytes: 8 * 1024 * 1024 };
  expect((await run(code, {}, { limits })).message).toMatch(/out of memory/);
});

test("arguments of calls that run at once are limited together, and count no longer when they are answered", async () => {
  const limits = { ...scriptLimits, argumentsLength: 1_000 };
  const code = `const half = "x".repeat(600);
    const together = await Promise.allSettled([tools.echo({ half }), tools.echo({ half })]);
    await tools.echo({ half });
    return together.map(({ status, reason }) => reason?.message ?? status)`;
  expect(JSON.parse((await run(code, {}, { limits })).texts[0]!)).toEqual([
    "fulfilled",
    expect.stringMatching(/arguments of calls that run at once may have 1000/),
  ]);
});

test("the text of an error is limited", async () => {
  const limits = { ...scriptLimits, errorLength: 100 };
  for (const thrown of [`new Error("x".repeat(1e4))`, `"x".repeat(1e4)`, `{ a: "x".repeat(1e4) }`])
    expect((await run(`throw ${thrown}`, {}, { limits })).message!.length).toBeLessThan(130);
});

test("no function of the environment is handed out through the stack of an error", async () => {
  const code = `const seen = [];
    try { Error.prepareStackTrace = (_error, sites) => seen.push(...sites) } catch {}
    try { Object.defineProperty(Error, "prepareStackTrace", { value: () => seen.push(1) }) } catch {}
    for (const attempt of [() => image({ data: "<>", mimeType: "image/png" }), () => text(1n)])
      try { attempt() } catch (error) { seen.push(typeof error.stack) }
    return seen`;
  expect((await run(code)).texts).toEqual(['["string","string"]']);
});

test("values that are in the log beyond the limit can be read, and only more cannot be stored", async () => {
  const limits = { ...scriptLimits, storeLength: 1_000 };
  const store = { a: JSON.stringify("x".repeat(2_000)) };
  const code = `try { store("b", 1) } catch (error) { text(error.message) } return load("a").length`;
  expect((await run(code, { store }, { limits })).texts).toEqual([expect.stringContaining("1000 characters"), "2000"]);
});

test("a tool is called by its own name, also if that is the identifier of another", async () => {
  const setup = { tools: ["a_b", "a-b"].map((name) => ({ name, identifier: "a_b", description: "" })), store: {} };
  const code = `return [(await tools.a_b()).name, (await tools["a-b"]()).name]`;
  for (const listed of [setup.tools, setup.tools.toReversed()])
    expect((await run(code, { setup: { ...setup, tools: listed } })).texts).toEqual(['["a_b","a-b"]']);
});

test("the 1,001st call is refused, and the others were made", async () => {
  let made = 0;
  const result = await run(
    `const all = await Promise.allSettled(Array.from({ length: 1001 }, () => tools.echo()));
     return [all.filter(({ status }) => status === "fulfilled").length, all[1000].reason.message]`,
    { call: async () => ++made },
  );
  expect(result.texts).toEqual(['[1000,"A script may make 1000 calls at most."]']);
  expect(made).toBe(1_000);
});

test("output that passes a limit ends the script", async () => {
  const limits = { ...scriptLimits, outputLength: 1_000, outputItems: 5 };
  expect((await run(`text("x".repeat(1001))`, {}, { limits })).message).toMatch(/passes 1000 characters/);
  const many = await run(`try { for (;;) text("x") } catch { for (;;) {} }`, {}, { limits });
  expect([many.texts.length, many.message]).toEqual([5, expect.stringMatching(/passes 1000 characters or 5 items/)]);
});

test("open calls are aborted when the script ends, and nothing can be called afterwards", async () => {
  const seen: string[] = [];
  const result = await run(`tools.echo({ n: 1 }).then(() => tools.echo({ n: 2 })); return "done"`, {
    call: (_method, args, signal) =>
      new Promise((resolve) => {
        seen.push(JSON.stringify(args));
        signal.addEventListener("abort", () => {
          seen.push("aborted");
          resolve(1);
        });
      }),
  });
  expect(result.texts).toEqual(["done"]);
  await expect.poll(() => seen).toEqual(['{"name":"echo","args":{"n":1}}', "aborted"]);
});

test("a script that replaces what the language has deceives itself at most", async () => {
  const result = await run(`
    JSON.parse = () => "forged"; JSON.stringify = () => "forged"; Promise.prototype.then = () => {};
    Object.defineProperty(Object.prototype, "resolve", { set() { throw new Error("no") } });
    Array.prototype.map = () => ["forged"];
    globalThis.Promise = class {}; globalThis.tools2 = tools;
    try { tools.echo = () => "forged" } catch {}
    return (await tools.echo({ x: 1 })).given`);
  expect(result.texts).toEqual(['{"x":1}']);
});

test("nothing of Node, of other engines and of the environment is there", async () => {
  const names =
    "process require fetch setTimeout Deno Bun Worker WebAssembly Atomics std os print scriptArgs send post __filename";
  const result = await run(`return ${JSON.stringify(names.split(" "))}.filter((name) => name in globalThis)`);
  expect(result.texts).toEqual(["[]"]);
});

test("modules cannot be imported, and code made from text is as confined as the script", async () => {
  expect((await run(`return (await import("node:fs")).readFileSync`)).message).toBeDefined();
  expect((await run(`return (0, eval)("typeof process") + Function("return typeof require")()`)).texts).toEqual([
    "undefinedundefined",
  ]);
});

test("two scripts run at once, and the third waits for its turn", async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  const gates: (() => void)[] = [];
  const start = (n: number) =>
    run(
      `await tools.echo({})`,
      { call: () => new Promise<void>((resolve) => (begun.push(n), gates.push(resolve))) },
      { slots },
    );
  const all = [start(1), start(2), start(3)];
  await expect.poll(() => begun.toSorted()).toEqual([1, 2]);
  gates[0]!();
  await expect.poll(() => begun.length).toBe(3);
  for (const open of gates.slice(1)) open();
  for (const { message } of await Promise.all(all)) expect(message).toBeUndefined();
});

test("a script that gets no worker within a minute, or within its own limit, does not run", async () => {
  const clock = createFakeClock();
  const slots = new Slots(0);
  const first = run(`text(1)`, {}, { clock, slots });
  const second = run(`text(1)`, { timeoutMs: 1_000 }, { clock, slots });
  await clock.advance(1_000);
  expect((await second).message).toMatch(/longer than its timeout_ms of 1000/);
  await clock.advance(60_000);
  expect((await first).message).toMatch(/did not run/);
});

test("ten minutes end a script, without the time in which a person was asked", async () => {
  const clock = createFakeClock();
  let waitedMs = 5_000;
  const started: string[] = [];
  const result = run(
    `await tools.echo({})`,
    {
      getPersonWaitMs: () => waitedMs,
      call: async () => {
        started.push("call");
        return await new Promise(() => {});
      },
    },
    { clock },
  );
  await expect.poll(() => started).toEqual(["call"]);
  waitedMs += 20 * 60_000;
  let isOver = false;
  void result.then(() => (isOver = true));
  await clock.advance(20 * 60_000);
  await clock.advance(9 * 60_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  await clock.advance(61_000);
  // The script only waits, so it is ended after its grace.
  await clock.advance(1_000);
  expect((await result).message).toBe("The script took longer than 10 minutes.");
});
