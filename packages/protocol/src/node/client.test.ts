import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { SessionEvent } from "../event.ts";
import { TauClientError } from "./errors.ts";
import { startTau, type StartTauOptions } from "./start-tau.ts";

/** A program of a few lines: `on(command, params, id)` is called for each that comes in. */
const program = (body: string) => `
  const send = (record) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...record }) + "\\n");
  const event = (params) => send({ method: "event", params });
  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\\n");
    rest = lines.pop();
    for (const line of lines) {
      const { method, params, id, result } = JSON.parse(line);
      on(method, params, id, result);
    }
  });
  ${body}`;

async function start(body: string, options: StartTauOptions = {}) {
  // On a busy machine, a program that ends in order may take more than the default time.
  const closeTimeoutMs = 60_000;
  const commandArgs = ["-e", program(body), "--"];
  const client = await startTau({ command: process.execPath, commandArgs, closeTimeoutMs, ...options });
  onTestFinished(async () => void (await client.close()));
  return client;
}

test("answers find their commands in whatever order they come, and flags reach the program", async () => {
  const client = await start(
    `const held = [];
     function on(method, params, id) {
       held.push({ id, result: { method, params, args: process.argv.slice(1) } });
       if (held.length === 3) for (const answer of held.reverse()) send(answer);
     }`,
    { args: ["--no-session"] },
  );
  const [state, model, prompted] = await Promise.all([
    client.call("get_state"),
    client.call("set_model", { provider: "a", modelId: "b" }),
    client.prompt("Hi.", { streamingBehavior: "steer" }),
  ]);
  expect(state).toMatchObject({ method: "get_state", params: {}, args: ["--mode", "rpc", "--no-session"] });
  expect(model).toMatchObject({ method: "set_model", params: { provider: "a", modelId: "b" } });
  expect(prompted).toMatchObject({ method: "prompt", params: { message: "Hi.", streamingBehavior: "steer" } });
});

test("what fails says why, with the program's words and its code", async () => {
  const client = await start(
    `function on(method, params, id) {
       send({ id, error: { code: -32000, message: "A run goes on already.", data: { code: "busy" } } });
     }`,
  );
  const failure = await client.prompt("Hi.").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TauClientError);
  expect(failure).toMatchObject({ code: "refused", reason: "busy", message: "prompt: A run goes on already." });
});

test("events come whole, however they are cut, and U+2028 ends no line", async () => {
  const delta = "größer \u2028 🙂";
  const client = await start(
    `function on(method, params, id) {
       const lines = [
         { jsonrpc: "2.0", method: "event", params: { type: "notice", code: "a", message: ${JSON.stringify(delta)} } },
         { jsonrpc: "2.0", id, result: { answer: "Done.", terminationReason: "no_tool_calls" } },
       ];
       const bytes = Buffer.from(lines.map((line) => JSON.stringify(line) + "\\n").join(""));
       const next = (at) => at < bytes.length && process.stdout.write(bytes.subarray(at, at + 1), () => next(at + 1));
       next(0);
     }`,
  );
  const iterated: SessionEvent[] = [];
  const reading = (async () => {
    for await (const event of client.events()) iterated.push(event);
  })();
  const { answer, events } = await client.promptAndWait("Go.");
  expect(answer).toBe("Done.");
  expect(events).toEqual([{ type: "notice", code: "a", message: delta }]);
  await client.close();
  // Whoever reads on is told of the end too.
  await reading;
  expect(iterated).toEqual(events);
});

const asking = `
  let asked;
  function on(method, params, id, result) {
    if (method === "initialize") return send({ id, result: params });
    if (method === "execute") {
      asked = id;
      return send({ id: "approve:1", method: "approve", params: { approvalId: "1", toolName: "read" } });
    }
    send({ id: asked, result: { answer: result.decision, terminationReason: "no_tool_calls" } });
  }`;

test("questions are answered; where nobody is there, or whoever is fails, nothing is allowed", async () => {
  const allowing = await start(asking, {
    onApproval: ({ toolName }) => ({ decision: toolName === "read" ? "allow" : "deny" }),
  });
  expect((await allowing.promptAndWait("?")).answer).toBe("allow");
  const silent = await start(asking);
  expect((await silent.promptAndWait("?")).answer).toBe("deny");
  const problems: string[] = [];
  const failing = await start(asking, {
    onApproval: () => {
      throw new Error("no window");
    },
    onProblem: (message) => void problems.push(message),
  });
  expect((await failing.promptAndWait("?")).answer).toBe("deny");
  expect(problems[0]).toContain("no window");
});

test("a handler that returns nothing answers nevertheless", async () => {
  const client = await start(
    `function on(method, params, id, result) {
       if (method === "execute") {
         send({ id: "approve:1", method: "approve", params: { id: "1" } });
         send({ id: "ui:2", method: "ui_request", params: { id: "2", method: "confirm" } });
         replies = { execute: id };
       } else if (method === undefined) {
         replies[id] = result === undefined ? "nothing" : result;
         if ("approve:1" in replies && "ui:2" in replies)
           send({ id: replies.execute, result: { answer: JSON.stringify([replies["approve:1"], replies["ui:2"]]) } });
       } else send({ id, result: null });
     }
     let replies;`,
    { onApproval: () => undefined as never, onDialog: () => undefined as never },
  );
  expect((await client.promptAndWait("?")).answer).toBe(JSON.stringify([{ decision: "deny" }, { cancelled: true }]));
});

test("a listener that fails and lines that are none disturb nobody", async () => {
  const problems: string[] = [];
  const client = await start(
    `function on(method, params, id) {
       process.stdout.write("Warning: not for you\\nnull\\n");
       send({ method: "settled", params: { aborted: false } });
       send({ id: 98, error: null });
       event({ type: "notice", code: "a", message: "b" });
       send({ id: 99, result: null });
       send({ id, result: null });
     }`,
    {
      onProblem: (message) => void problems.push(message),
      onSettled: () => {
        throw new Error("slippery");
      },
    },
  );
  const heard: string[] = [];
  client.onEvent(() => {
    throw new Error("clumsy");
  });
  client.onEvent(({ type }) => void heard.push(type));
  await client.abort();
  expect(heard).toEqual(["notice"]);
  expect(problems).toEqual([
    expect.stringContaining("no JSON"),
    expect.stringContaining("null"),
    expect.stringContaining("slippery"),
    expect.stringContaining("nobody asked"),
    expect.stringContaining("clumsy"),
    expect.stringContaining("nobody asked"),
  ]);
});

test("when the program ends, whoever waits is told how, and so is who comes later", async () => {
  const client = await start(
    `function on() { process.stderr.write("out of luck\\n"); process.exitCode = 7; process.stdin.destroy(); }`,
  );
  const gone = { code: "ended", message: "The program has ended with code 7. It said: out of luck" };
  await expect(client.call("get_state")).rejects.toMatchObject(gone);
  await expect(client.call("get_state")).rejects.toMatchObject(gone);
  expect(await client.close()).toBe(7);
});

test("a program that is not there is said so", async () => {
  const command = join(import.meta.dirname, "no-such-program");
  await expect(startTau({ command })).rejects.toMatchObject({ code: "not_started" });
});

test("closing ends the program by its input, and kills only one that stays", async () => {
  const willing = await start(`function on() {}`);
  expect(await willing.close()).toBe(0);
  const stubborn = await start(`function on(m, p, id) { send({ id, result: null }); } setInterval(() => {}, 1000);`, {
    closeTimeoutMs: 50,
  });
  await stubborn.abort();
  const bystander = await start(`function on(m, p, id) { send({ id, result: null }); }`);
  expect(await stubborn.close()).toBe(null);
  await bystander.abort();
});

test("closing does not wait for others that the program has left with its outputs", async () => {
  const left = await start(
    `const { spawn } = require("node:child_process");
     function on(method, params, id) {
       const { pid } = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "inherit" });
       send({ id, result: { pid } });
       process.stdin.once("end", () => process.exit(0));
     }`,
    { closeTimeoutMs: 200 },
  );
  const { pid } = (await left.call("get_state")) as unknown as { pid: number };
  onTestFinished(() => void process.kill(pid, "SIGKILL"));
  expect(await left.close()).toBe(0);
});
