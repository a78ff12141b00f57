/** Sessions that ask real servers on this machine, which answer with what a test says. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KnownApi } from "@tau/ai";
import {
  createFakeClock,
  type FakeClock,
  startWireServer,
  text,
  wireDialects,
  type WireReply,
  type WireServer,
} from "@tau/ai/testing";
import type { SessionEvent } from "@tau/protocol";
import { type SettingsInput, SettingsManager } from "@tau/config/settings";
import { type AgentSession, type AgentSessionParams, createAgentSession, SessionManager } from "@tau/harness";
import { onTestFinished } from "vitest";

export const answers = (words: string): WireReply => ({ kind: "answer", answer: { content: [text(words)] } });
export const refuses = (status: number, headers: Record<string, string> = {}): WireReply => ({
  kind: "status",
  status,
  headers,
});
/** Sends text in the protocol of `one`, and then reports in the same stream that there is too much load. */
export const breaksOff = (words: string): WireReply => {
  const { answer, streamError } = wireDialects["anthropic-messages"];
  const beginning = answer({ id: "cut", model: "m", content: [text(words)] }).slice(0, 4);
  return { kind: "raw", chunks: [...beginning, streamError("overloaded", "Too much load.")], ending: "end" };
};

export interface WireDesk {
  readonly agentDir: string;
  readonly clock: FakeClock;
  /** The servers, by provider. */
  readonly servers: Readonly<Record<string, WireServer>>;
  /** Lists the requests, such as `one 0000` with the end of the key. */
  readonly asked: () => string[];
  /** The session selects `one/m`, unless its log says otherwise. */
  readonly open: (settings: SettingsInput, params?: AgentSessionParams) => Promise<OpenedSession>;
}

export interface OpenedSession {
  readonly session: AgentSession;
  readonly events: SessionEvent[];
  /** Lists the events `model_used`, such as `fallback two/m`. */
  readonly uses: () => string[];
}

const apis: Record<string, KnownApi> = {
  one: "anthropic-messages",
  two: "openai-completions",
  three: "openai-responses",
};

/** Each of `one`, `two` and `three` is a provider with the model `m` and a key, and speaks its own protocol. */
export async function openWireDesk(replies: Readonly<Record<string, readonly WireReply[]>>): Promise<WireDesk> {
  const root = mkdtempSync(join(tmpdir(), "tau-wire-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [agentDir, cwd] = [join(root, "agent"), join(root, "work")];
  for (const directory of [agentDir, cwd]) mkdirSync(directory);
  const clock = createFakeClock();
  const servers: Record<string, WireServer> = {};
  for (const [name, api] of Object.entries(apis)) {
    servers[name] = await startWireServer(api, replies[name] ?? []);
    onTestFinished(() => servers[name]!.close());
  }
  const providers = Object.entries(apis).map(([name, api]) => {
    const models = [{ id: "m", contextWindow: 100_000, maxTokens: 1_000 }];
    return [name, { baseUrl: servers[name]!.url, api, apiKey: `key-of-${name}-0000`, models }] as const;
  });
  writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: Object.fromEntries(providers) }));
  return {
    agentDir,
    clock,
    servers,
    asked: () => listAsked(servers),
    async open(settings, params = {}) {
      const session = await createAgentSession({
        agentDir,
        cwd,
        clock,
        watch: false,
        ...(params.sessionManager ? {} : { model: "one/m" }),
        settingsManager: SettingsManager.inMemory(settings),
        sessionManager: await SessionManager.inMemory(cwd),
        ...params,
      });
      onTestFinished(() => session.dispose());
      const events: SessionEvent[] = [];
      session.onSessionEvent((event) => {
        events.push(event);
        if (event.type === "retry_scheduled") void clock.advance(event.delayMs);
      });
      const uses = () =>
        events.flatMap((event) =>
          event.type === "model_used"
            ? `${event.cause} ${event.provider}/${event.modelId} ${event.key ?? ""}`.trim()
            : [],
        );
      return { session, events, uses };
    },
  };
}

const listAsked = (servers: Readonly<Record<string, WireServer>>): string[] =>
  Object.entries(servers).flatMap(([name, { requests }]) =>
    requests.map(({ headers }) => `${name} ${(headers["x-api-key"] ?? headers["authorization"] ?? "").slice(-4)}`),
  );
