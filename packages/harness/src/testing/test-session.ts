/** A session for tests: no network, no waiting, nothing left behind. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createFakeClock, type FakeClock, type ScriptedModelOptions } from "@tau/ai/testing";
import type { SessionEvent } from "@tau/protocol";
import { isWithin } from "@tau/tools/platform";
import type { AgentSession, PromptOptions } from "../agent-session/agent-session.ts";
import type { PromptOutcome } from "../agent-session/activity.ts";
import { AuthStorage } from "../auth/auth-storage.ts";
import { createAgentSession } from "../agent-session/create-agent-session.ts";
import type { AgentSessionParams } from "../agent-session/params.ts";
import { HarnessError } from "../errors.ts";
import { ModelRegistry } from "../models/model-registry.ts";
import { createResourceLoader } from "../resources/resource-loader.ts";
import { SessionManager } from "../session/session-manager.ts";
import type { SettingsInput } from "../settings/schema.ts";
import { SettingsManager } from "../settings/settings-manager.ts";
import { createSequentialIds } from "./ids.ts";
import { strictModel, type TestModel, type TestTurn } from "./script.ts";
import { transcript, type TranscriptOptions } from "./transcript.ts";

/** Every parameter of a session but the model, which is the script, and a few for tests. */
export interface TestSessionParams extends Omit<AgentSessionParams, "model" | "clock"> {
  /** Default: one that stands still. */
  clock?: FakeClock;
  /** Instead of `settingsManager`: settings in memory. */
  settings?: SettingsInput;
  /** Files to begin with, by their path in `cwd`. */
  files?: Readonly<Record<string, string>>;
  /** How the model is described, such as its `contextWindow`, and how fast it speaks. */
  scripted?: Omit<ScriptedModelOptions, "clock">;
  /** Whether the clock goes on by itself while a retry is waited for. Default true. */
  skipRetryDelays?: boolean;
}

export interface TestSession {
  readonly session: AgentSession;
  /** What it was `asked`, how many turns are `left`, and `add` for more. */
  readonly model: TestModel;
  readonly clock: FakeClock;
  /** A temporary directory of its own, unless one was given. */
  readonly cwd: string;
  /** Everything that happened, in order. */
  readonly events: readonly SessionEvent[];
  /** The next event of this type. Each is given once, also one that came before it was asked for. */
  until<Type extends SessionEvent["type"]>(type: Type): Promise<Extract<SessionEvent, { type: Type }>>;
  /** As `session.prompt`; rejects when the model was asked something that the script was not written for. */
  prompt(text: string, options?: PromptOptions): Promise<PromptOutcome>;
  /** Everything that happened as lines, with the session's own directories named. */
  transcript(options?: TranscriptOptions): string[];
  /** Ends the session and removes what was made for it. Rejects for a miss of the script that no `prompt` has told. */
  dispose(): Promise<void>;
}

/**
 * A session in memory, in a temporary directory, with a model that says what `turns` say and a clock that stands still.
 * Settings, credentials, models and resources of the machine are not read. What waits for the clock, such as a tool that
 * is aborted and does not end, waits for `clock.advance`.
 */
export async function createTestSession(
  turns: readonly TestTurn[],
  params: TestSessionParams = {},
): Promise<TestSession> {
  const { clock = createFakeClock(), settings, files = {}, scripted, skipRetryDelays = true, ...rest } = params;
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-test-")));
  const removeRoot = () => rm(root, { recursive: true, force: true });
  const cwd = resolve(rest.cwd ?? join(root, "work"));
  const agentDir = resolve(rest.agentDir ?? join(root, "agent"));
  const shown = { cwd, names: { [agentDir]: "<agentDir>" } };
  const misses: HarnessError[] = [];
  const model = strictModel(turns, {
    ...scripted,
    clock,
    lines: (messages) => transcript(messages, shown),
    onMiss: (miss) => misses.push(miss),
  });
  const events: SessionEvent[] = [];
  const arrivals = createArrivals();
  let session: AgentSession;
  try {
    await mkdir(cwd, { recursive: true });
    await writeFiles(cwd, files);
    session = await createAgentSession({
      ...(await hermeticParts(rest, { root, cwd, agentDir, clock, settings })),
      model,
    });
  } catch (error) {
    model.dispose();
    await removeRoot();
    throw error;
  }
  session.onSessionEvent((event) => {
    events.push(event);
    arrivals.add(event);
    // The wait begins right after this event, and the clock looks for it a moment later.
    if (event.type === "retry_scheduled" && skipRetryDelays) void clock.advance(event.delayMs);
  });
  const throwMiss = () => {
    const [miss] = misses.splice(0);
    if (miss) throw miss;
  };
  return {
    session,
    model,
    clock,
    cwd,
    events,
    until: arrivals.next,
    async prompt(text, options) {
      const outcome = await session.prompt(text, options);
      throwMiss();
      return outcome;
    },
    transcript: (options) => transcript(events, { ...shown, ...options, names: { ...shown.names, ...options?.names } }),
    async dispose() {
      await session.dispose();
      arrivals.close();
      model.dispose();
      await removeRoot();
      throwMiss();
    },
  };
}

type Wait = { resolve: (event: SessionEvent) => void; reject: (error: HarnessError) => void };

/** Events in the order they come, for whoever waits for one of a type. */
function createArrivals() {
  const arrived = new Map<string, SessionEvent[]>();
  const waits = new Map<string, Wait[]>();
  const toList = <T>(lists: Map<string, T[]>, type: string): T[] => {
    const list = lists.get(type) ?? [];
    lists.set(type, list);
    return list;
  };
  return {
    add(event: SessionEvent): void {
      const wait = waits.get(event.type)?.shift();
      if (wait) wait.resolve(event);
      else toList(arrived, event.type).push(event);
    },
    next<Type extends SessionEvent["type"]>(type: Type): Promise<Extract<SessionEvent, { type: Type }>> {
      type Wanted = Extract<SessionEvent, { type: Type }>;
      const event = arrived.get(type)?.shift();
      if (event) return Promise.resolve(event as Wanted);
      const coming = new Promise<Wanted>((resolve, reject) => {
        toList(waits, type).push({ resolve: (one) => resolve(one as Wanted), reject });
      });
      // Who has stopped waiting does not need to hear that it never came.
      coming.catch(() => undefined);
      return coming;
    },
    close(): void {
      for (const [type, list] of waits) {
        const error = new HarnessError("closed", `The session was disposed of, and no event ${type} had come.`);
        for (const { reject } of list.splice(0)) reject(error);
      }
    },
  };
}

interface Ground {
  root: string;
  cwd: string;
  agentDir: string;
  clock: FakeClock;
  settings: SettingsInput | undefined;
}

/** What a session would else read from the machine it is on. */
async function hermeticParts(
  params: Omit<AgentSessionParams, "model">,
  { root, cwd, agentDir, clock, settings }: Ground,
): Promise<AgentSessionParams> {
  const { ids = createSequentialIds(), agentName, parentSessionId: parentId } = params;
  const home = { cwd, agentDir, home: root, ...(agentName !== undefined && { agentName }) };
  return {
    settingsManager: SettingsManager.inMemory(settings),
    authStorage: AuthStorage.inMemory({}, { env: () => undefined, clock }),
    modelRegistry: ModelRegistry.inMemory(),
    resourceLoader: params.resourceLoader ?? (await createResourceLoader(home)),
    sessionManager:
      params.sessionManager ??
      (await SessionManager.inMemory(cwd, { clock, ids, ...(parentId !== undefined && { parentId }) })),
    ...params,
    cwd,
    agentDir,
    clock,
    ids,
  };
}

async function writeFiles(cwd: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = resolve(cwd, name);
    if (!isWithin(cwd, path)) throw new HarnessError("invalid_input", `The file ${name} is not within ${cwd}.`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}
