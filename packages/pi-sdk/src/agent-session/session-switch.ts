/** Continues in another session file: a new one, a fork, or one that exists. */
import type { Agent } from "@tau/agent";
import { contentText, type SessionManager } from "@tau/pi/internal";
import type { CurrentRunner } from "./current-runner.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { Prompts } from "./prompts.ts";
import { reloadMessages } from "./reload-messages.ts";
import type { Runs } from "./runs.ts";

export interface NewSessionOptions {
  parentSession?: string;
  setup?: (session: SessionManager) => Promise<void>;
}

interface SwitchParts {
  agent: Agent;
  sessionManager: SessionManager;
  extensions: CurrentRunner;
  models: ModelChoice;
  prompts: Prompts;
  runs: Runs;
}

export class SessionSwitch {
  readonly #parts: SwitchParts;

  constructor(parts: SwitchParts) {
    this.#parts = parts;
  }

  async fork(entryId: string): Promise<{ selectedText: string; cancelled: boolean }> {
    const { sessionManager, extensions } = this.#parts;
    const entry = sessionManager.getEntry(entryId);
    if (entry?.type !== "message" || entry.message.role !== "user") throw new Error("Invalid entry ID for forking");
    const selectedText = contentText(entry.message.content);
    const verdict = await extensions.runner.emit({ type: "session_before_fork", entryId });
    if (verdict?.["cancel"]) return { selectedText, cancelled: true };
    const previousSessionFile = sessionManager.getSessionFile();
    if (entry.parentId === null) {
      sessionManager.newSession(previousSessionFile === undefined ? {} : { parentSession: previousSessionFile });
    } else sessionManager.createBranchedSession(entry.parentId);
    this.#openMessages();
    await extensions.runner.emit({ type: "session_fork", previousSessionFile });
    return { selectedText, cancelled: false };
  }

  /** False if an extension cancelled it. */
  async create({ parentSession, setup }: NewSessionOptions): Promise<boolean> {
    const { sessionManager, extensions, models, runs } = this.#parts;
    const previousSessionFile = sessionManager.getSessionFile();
    const verdict = await extensions.runner.emit({ type: "session_before_switch", reason: "new" });
    if (verdict?.["cancel"]) return false;
    await runs.abort();
    sessionManager.newSession(parentSession === undefined ? {} : { parentSession });
    sessionManager.appendThinkingLevelChange(models.thinkingLevel);
    await setup?.(sessionManager);
    this.#openMessages();
    await extensions.runner.emit({ type: "session_switch", reason: "new", previousSessionFile });
    return true;
  }

  /** False if an extension cancelled it. */
  async open(targetSessionFile: string): Promise<boolean> {
    const { sessionManager, extensions, models, runs } = this.#parts;
    const previousSessionFile = sessionManager.getSessionFile();
    const event = { type: "session_before_switch", reason: "resume", targetSessionFile };
    const verdict = await extensions.runner.emit(event);
    if (verdict?.["cancel"]) return false;
    await runs.abort();
    sessionManager.setSessionFile(targetSessionFile);
    this.#openMessages();
    await extensions.runner.emit({ type: "session_switch", reason: "resume", previousSessionFile });
    await models.restore();
    return true;
  }

  #openMessages(): void {
    const { agent, sessionManager, prompts } = this.#parts;
    prompts.clear();
    agent.sessionId = sessionManager.getSessionId();
    reloadMessages(agent, sessionManager);
  }
}
