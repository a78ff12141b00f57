/** Sessions for tests: no network, no waiting, and no files left behind. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createFakeClock, type FakeClock, type ScriptedModelOptions } from "@tau/ai/testing";
import { type SessionEvent, HarnessError } from "@tau/protocol";
import { isWithin } from "@tau/tools/platform";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { PromptOptions } from "../agent-session/prompts.ts";
import type { PromptOutcome } from "../agent-session/activity.ts";
import { AuthStorage } from "@tau/config/auth";
import { createAgentSession } from "../construct/create-agent-session.ts";
import type { AgentSessionParams } from "../construct/params.ts";
import { ModelRegistry } from "@tau/config/models";
import { createResourceLoader } from "@tau/config/resources";
import { SessionManager } from "../session/session-manager.ts";
import { type SettingsInput, SettingsManager } from "@tau/config/settings";
import { createSequentialIds } from "./ids.ts";
import { strictModel, type TestModel, type TestTurn } from "./script.ts";
import { transcript, type TranscriptOptions } from "./transcript.ts";

/** All parameters of a session except the model, and some for tests. */
export interface TestSessionParams extends Omit<AgentSessionParams, "model" | "clock"> {
  /** Default: a clock that stands still. */
  clock?: FakeClock;
  /** Settings in memory, instead of `settingsManager`. */
  settings?: SettingsInput;
  /** Files to create, by their paths in `cwd`. */
  files?: Readonly<Record<string, string>>;
  /** The properties of the model, such as its `contextWindow`. */
  scripted?: Omit<ScriptedModelOptions, "clock">;
  /** Whether the clock advances by itself while a retry is pending. Default true. */
  skipRetryDelays?: boolean;
}

export interface TestSession {
  readonly session: AgentSession;
  /** `asked` holds the requests, `left` is the number of turns left, and `add` adds turns. */
  readonly model: TestModel;
  readonly clock: FakeClock;
  /** Default: a temporary directory. */
  readonly cwd: string;
  /** All events so far. */
  readonly events: readonly SessionEvent[];
  /** The next event of this type. Each event is returned once, even if it came before this call. */
  until<Type extends SessionEvent["type"]>(type: Type): Promise<Extract<SessionEvent, { type: Type }>>;
  /** Like `session.prompt`, but rejects if the script did not expect a request. */
  prompt(text: string, options?: PromptOptions): Promise<PromptOutcome>;
  /** All events as lines, with names for the session's directories. */
  transcript(options?: TranscriptOptions): string[];
  /** Disposes of the session and removes its files. Rejects for an unexpected request that no `prompt` has reported. */
  dispose(): Promise<void>;
}

/**
 * A session in memory, with a temporary directory, a model that answers with `turns`, and a clock that stands still.
 * Settings, credentials, models and resources of the machine are not read. Timers, such as that for a tool which does not
 * end after an abort, fire with `clock.advance`.
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
  const defaultOptions = { cwd, names: { [agentDir]: "<agentDir>" } };
  const misses: HarnessError[] = [];
  const model = strictModel(turns, {
    ...scripted,
    clock,
    lines: (messages) => transcript(messages, defaultOptions),
    onMiss: (miss) => misses.push(miss),
  });
  const events: SessionEvent[] = [];
  const arrivals = createArrivals();
  let session: AgentSession;
  try {
    await mkdir(cwd, { recursive: true });
    await writeFiles(cwd, files);
    const { ids = createSequentialIds(), agentName, parentSessionId: parentId } = rest;
    const home = {
      cwd,
      agentDir,
      home: root,
      isProjectTrusted: () => true,
      ...(agentName !== undefined && { agentName }),
    };
    const origin = { clock, ids, ...(parentId !== undefined && { parentId }) };
    session = await createAgentSession({
      settingsManager: SettingsManager.inMemory(settings, { features: rest.features ?? [], projectTrusted: true }),
      authStorage: AuthStorage.inMemory({}, { env: () => undefined, clock }),
      modelRegistry: ModelRegistry.inMemory(),
      ...rest,
      resourceLoader: rest.resourceLoader ?? (await createResourceLoader(home)),
      sessionManager: rest.sessionManager ?? (await SessionManager.inMemory(cwd, origin)),
      model,
      cwd,
      agentDir,
      clock,
      ids,
    });
  } catch (error) {
    model.dispose();
    await removeRoot();
    throw error;
  }
  session.onSessionEvent((event) => {
    events.push(event);
    arrivals.add(event);
    // The retry sets its timer right after this event, and `advance` fires it a moment later.
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
    transcript: (options) =>
      transcript(events, { cwd, ...options, names: { ...defaultOptions.names, ...options?.names } }),
    async dispose() {
      await session.dispose();
      arrivals.close();
      model.dispose();
      await removeRoot();
      throwMiss();
    },
  };
}

interface Wait {
  type: SessionEvent["type"];
  resolve: (event: SessionEvent) => void;
  reject: (error: HarnessError) => void;
}

/** Returns each event once, in the order in which they come. */
function createArrivals() {
  const untaken: SessionEvent[] = [];
  const waits: Wait[] = [];
  return {
    add(event: SessionEvent): void {
      const index = waits.findIndex(({ type }) => type === event.type);
      if (index < 0) untaken.push(event);
      else waits.splice(index, 1)[0]!.resolve(event);
    },
    next<Type extends SessionEvent["type"]>(type: Type): Promise<Extract<SessionEvent, { type: Type }>> {
      const index = untaken.findIndex((event) => event.type === type);
      const next = new Promise<SessionEvent>((resolve, reject) => {
        if (index < 0) waits.push({ type, resolve, reject });
        else resolve(untaken.splice(index, 1)[0]!);
      });
      // A rejection that no test waits for any more is ignored.
      next.catch(() => undefined);
      return next as Promise<Extract<SessionEvent, { type: Type }>>;
    },
    close(): void {
      for (const { type, reject } of waits.splice(0)) {
        reject(new HarnessError("closed", `The session was disposed of before an event ${type}.`));
      }
    },
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
