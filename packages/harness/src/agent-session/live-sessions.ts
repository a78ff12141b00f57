/** The open sessions of one host, so that a child finds its parent by id: it ends with it and spends from its budget. */
import type { Usage } from "@tau/ai";
import type { Budget } from "../budget/budget.ts";
import type { PolicyLimits } from "./session-agent.ts";
import type { SessionTaint } from "../session/session-taint.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { RunHost } from "../run/run-host.ts";
import type { CurrentRun } from "./current-run.ts";
import type { Permissions } from "@tau/policy/internal";

/** The cost of requests to one model. */
export interface Spending {
  provider: string;
  model: string;
  usage: Usage;
}

/** A parent as its children see it. */
export interface LiveSession {
  readonly sessionId: string;
  /** Aborts when the parent's run does, and when the parent ends. */
  readonly signal: AbortSignal;
  /** The budget of the parent. */
  readonly budget: Budget;
  /** The taint of the parent: text of strangers that has come in. */
  readonly taint: SessionTaint;
  /** A child has at most the permission mode of its parent. */
  readonly permissions: Pick<Permissions, "mode" | "writingMode">;
  /** A child has at most the policy of its parent. */
  getPolicyLimits(): PolicyLimits;
  /** See `RunHost.beforeFilesChange`. */
  readonly beforeFilesChange: RunHost["beforeFilesChange"];
  /** Records what a child spent in the parent's log, so that it applies when the parent is opened again. */
  noteChild(spent: Spending): Promise<void>;
}

interface LiveSessionParts {
  sessionManager: SessionManager;
  parent: LiveSession | undefined;
  budget: Budget;
  taint: SessionTaint;
  permissions: Permissions;
  getPolicyLimits: () => PolicyLimits;
  beforeFilesChange: RunHost["beforeFilesChange"];
  currentRun: CurrentRun;
  /** Aborts when the session ends. */
  lifetime: AbortSignal;
}

export function createLiveSession(parts: LiveSessionParts): LiveSession {
  const { sessionManager, parent, budget, taint, permissions, getPolicyLimits, currentRun, lifetime } = parts;
  const { beforeFilesChange } = parts;
  return {
    sessionId: sessionManager.id,
    taint,
    permissions,
    getPolicyLimits,
    beforeFilesChange,
    get signal() {
      return currentRun.run?.signal ?? lifetime;
    },
    get budget() {
      return currentRun.run?.budget ?? budget;
    },
    async noteChild(spent) {
      await sessionManager.appendUsage("child", spent.provider, spent.model, spent.usage);
      await parent?.noteChild(spent);
    },
  };
}

export class LiveSessions {
  readonly #open = new Map<string, LiveSession>();

  get(id: string): LiveSession | undefined {
    return this.#open.get(id);
  }

  add(session: LiveSession): void {
    this.#open.set(session.sessionId, session);
  }

  /** Another session with the same id may have been opened since; that one stays. */
  remove(session: LiveSession): void {
    if (this.#open.get(session.sessionId) === session) this.#open.delete(session.sessionId);
  }
}

/** For sessions that are created without a host. */
export const standaloneSessions = new LiveSessions();
