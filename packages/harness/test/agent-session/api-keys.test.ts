/** Several keys of one provider. Real servers refuse some of them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, text, wireDialects } from "@tau/ai/testing";
import { type SettingsInput, SettingsManager } from "@tau/config/settings";
import { type AgentSessionParams, createAgentSession, SessionManager } from "@tau/harness";
import { customTypes } from "@tau/protocol";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";

interface Refusal {
  status: number;
  retryAfter?: string;
}

/** Decides how a server refuses a request; undefined answers it. */
type Judge = (request: { key: string; model: string; count: number }) => Refusal | "break off" | undefined;

const keys = ["key-1-of-lab-aaaa", "key-2-of-lab-bbbb", "key-3-of-lab-cccc"];

async function openServer(judge: Judge) {
  const { answer, errorBody, streamError, contentType } = wireDialects["anthropic-messages"];
  const asked: { key: string; model: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { model } = JSON.parse(body) as { model: string };
      const key = String(request.headers["x-api-key"]);
      asked.push({ key, model });
      const verdict = judge({ key, model, count: asked.length });
      if (verdict !== undefined && verdict !== "break off") {
        const headers = verdict.retryAfter === undefined ? {} : { "retry-after": verdict.retryAfter };
        response.writeHead(verdict.status, { "content-type": "application/json", ...headers });
        response.end(errorBody(verdict.status, `status ${verdict.status}`));
        return;
      }
      response.writeHead(200, { "content-type": contentType });
      const chunks = answer({ id: `a${asked.length}`, model, content: [text("Well, this is the answer.")] });
      const sent = verdict === "break off" ? [...chunks.slice(0, 4), streamError("overloaded", "Busy.")] : chunks;
      for (const chunk of sent) response.write(chunk);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { asked, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function openDesk(judge: Judge) {
  const root = mkdtempSync(join(tmpdir(), "tau-keys-"));
  const agentDir = join(root, "agent");
  mkdirSync(agentDir);
  const server = await openServer(judge);
  const models = ["m", "n", "o"].map((id) => ({ id, contextWindow: 100_000, maxTokens: 1_000 }));
  const provider = { baseUrl: server.url, api: "anthropic-messages", models };
  writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { lab: provider } }));
  const clock = createFakeClock();
  let opened = 0;
  const open = async (settings: SettingsInput = { apiKeys: { lab: keys } }, params: AgentSessionParams = {}) => {
    const session = await createAgentSession({
      agentDir,
      cwd: root,
      clock,
      watch: false,
      model: "lab/m",
      settingsManager: SettingsManager.inMemory(settings),
      sessionManager: await SessionManager.inMemory(root, { id: `session-${++opened}` }),
      ...params,
    });
    session.onSessionEvent((event) => {
      if (event.type === "retry_scheduled") void clock.advance(event.delayMs);
    });
    return session;
  };
  const close = () => {
    server.close();
    rmSync(root, { recursive: true, force: true });
  };
  return { ...server, root, agentDir, clock, open, close };
}

async function openTestDesk(judge: Judge) {
  const desk = await openDesk(judge);
  onTestFinished(desk.close);
  const open = async (...options: Parameters<typeof desk.open>) => {
    const session = await desk.open(...options);
    onTestFinished(() => session.dispose());
    return session;
  };
  return { ...desk, open };
}

const listKeys = (asked: readonly { key: string }[]) => asked.map(({ key }) => key);

describe("keys", () => {
  test("sessions are spread over the keys, and each stays with its own", async () => {
    const { asked, open } = await openTestDesk(() => undefined);
    const used = new Set<string>();
    for (let count = 0; count < 12; count++) {
      const session = await open();
      asked.length = 0;
      await session.prompt("Hi");
      await session.prompt("Again");
      expect(new Set(listKeys(asked)).size).toBe(1);
      used.add(asked[0]!.key);
    }
    expect(used.size).toBeGreaterThan(1);
  });

  test.each([
    ["a rate limit", 429],
    ["no credit", 402],
    ["a rejected key", 401],
  ])("%s: the next key is used at once, and new sessions skip the key that failed", async (_what, status) => {
    let bad: string | undefined;
    const { asked, open, clock } = await openTestDesk(({ key }) => ((bad ??= key) === key ? { status } : undefined));
    const session = await open();
    const events: string[] = [];
    session.onSessionEvent(({ type }) => events.push(type));
    expect(await session.prompt("Hi")).toMatchObject({ kind: "ran", failure: undefined });
    expect(listKeys(asked)).toEqual([bad, expect.not.stringMatching(bad!)]);
    expect(events).not.toContain("retry_scheduled");
    expect(session.modelUse).toMatchObject({ cause: "key", modelId: "m", key: `…${asked[1]!.key.slice(-4)}` });
    expect(session.modelUse?.reason).toContain(`The key …${bad!.slice(-4)} of lab`);
    await session.prompt("Again");
    expect(asked[2]!.key).toBe(asked[1]!.key);
    asked.length = 0;
    for (let count = 0; count < 8; count++) await (await open()).prompt("Hi");
    expect(listKeys(asked)).not.toContain(bad);
    await clock.advance(300_000);
    for (let count = 0; count < 12; count++) await (await open()).prompt("Hi");
    expect(listKeys(asked)).toContain(bad);
  });

  test("load is no reason for another key", async () => {
    const { asked, open } = await openTestDesk(({ count }) => (count < 3 ? { status: 529 } : undefined));
    await (await open()).prompt("Hi");
    expect(asked).toHaveLength(3);
    expect(new Set(listKeys(asked)).size).toBe(1);
  });

  test("the chain follows when all keys are refused", async () => {
    const { asked, open } = await openTestDesk(({ model }) => (model === "m" ? { status: 401 } : undefined));
    const session = await open({ apiKeys: { lab: keys }, retry: { fallbackChains: { "lab/*": ["lab/n"] } } });
    expect(await session.prompt("Hi")).toMatchObject({ failure: undefined });
    expect(
      asked
        .filter(({ model }) => model === "m")
        .map(({ key }) => key)
        .toSorted(),
    ).toEqual(keys);
    expect(asked.filter(({ model }) => model === "n")).toHaveLength(1);
  });

  test("variables are resolved, and those that are not set are skipped", async () => {
    vi.stubEnv("LAB_KEY_OF_TEST", "from-a-variable-dddd");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { asked, open } = await openTestDesk(() => undefined);
    const written = ["${LAB_KEY_OF_TEST}", "$LAB_KEY_THAT_IS_NOT_SET"];
    await (await open({ apiKeys: { lab: written } })).prompt("Hi");
    expect(listKeys(asked)).toEqual(["from-a-variable-dddd"]);
    const session = await open({ apiKeys: { lab: ["$LAB_KEY_THAT_IS_NOT_SET"] } });
    expect(await session.prompt("Hi")).toMatchObject({ failure: { kind: "auth" } });
  });

  test("no key is in the log or in an event, also if a person types it", async () => {
    const { open, root } = await openTestDesk(({ count }) => (count === 1 ? { status: 401 } : undefined));
    const session = await open({ apiKeys: { lab: keys } }, { sessionManager: await SessionManager.create(root, root) });
    const seen: unknown[] = [];
    session.onSessionEvent((event) => seen.push(event));
    await session.prompt(`What is ${keys.join(" and ")}?`);
    const log = readFileSync(session.sessionFile!, "utf8");
    expect(log).toContain(customTypes.modelUsed);
    const reports = JSON.stringify(seen.filter((event) => (event as { type: string }).type === "model_used"));
    expect(reports).toContain("…");
    for (const key of keys) expect(log + reports).not.toContain(key);
  });
});

const verdicts = fc.constantFrom<Refusal | "break off" | undefined>(
  undefined,
  "break off",
  { status: 429 },
  { status: 429, retryAfter: "0" },
  { status: 429, retryAfter: "120" },
  { status: 529 },
  { status: 402 },
  { status: 401 },
);

test("each model and key is asked at most as often as retries allow, and never another one after text was shown", async () => {
  const scripts = fc.array(verdicts, { minLength: 4, maxLength: 40 });
  const options = fc.record({ maxRetries: fc.nat(4), keyCount: fc.integer({ min: 1, max: 3 }) });
  await fc.assert(
    fc.asyncProperty(scripts, options, async (script, { maxRetries, keyCount }) => {
      const given: (Refusal | "break off" | undefined)[] = [];
      const desk = await openDesk(({ count }) => {
        // After the script everything is refused, so that nothing but the limits ends the run.
        const verdict = count > script.length ? { status: 529, retryAfter: "0" } : script[count - 1];
        given.push(verdict);
        return verdict;
      });
      const session = await desk.open({
        apiKeys: { lab: keys.slice(0, keyCount) },
        retry: { maxRetries, fallbackChains: [["lab/m", "lab/n", "lab/o"]] },
      });
      try {
        await session.prompt("Hi");
        const counts = new Map<string, number>();
        for (const [index, { key, model }] of desk.asked.entries()) {
          const name = `${model} ${key}`;
          counts.set(name, (counts.get(name) ?? 0) + 1);
          const next = desk.asked[index + 1];
          if (given[index] === "break off" && next) expect(`${next.model} ${next.key}`).toBe(name);
          if (given[index] === undefined) expect(next).toBeUndefined();
        }
        expect(Math.max(...counts.values())).toBeLessThanOrEqual(1 + maxRetries);
      } finally {
        await session.dispose();
        desk.close();
      }
    }),
    { numRuns: 30 },
  );
});
