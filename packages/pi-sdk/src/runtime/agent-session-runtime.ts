/** pi's `AgentSessionRuntime`: holds the session of a program, and replaces it by a new one, another one or a fork. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { ReplacedSessionContext } from "@tau/extensions";
import { contentText, SessionManager } from "@tau/pi/internal";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { CreateAgentSessionResult } from "../agent-session/create-agent-session.ts";
import type { SessionStartEvent } from "../agent-session/types.ts";
import type { AgentSessionRuntimeDiagnostic, AgentSessionServices } from "./services.ts";
import { checkSessionDirectory } from "./session-directory.ts";

export interface CreateAgentSessionRuntimeResult extends CreateAgentSessionResult {
  services: AgentSessionServices;
  diagnostics: AgentSessionRuntimeDiagnostic[];
}

/** Creates the services of a directory and a session with them. */
export type CreateAgentSessionRuntimeFactory = (options: {
  cwd: string;
  agentDir: string;
  sessionManager: SessionManager;
  sessionStartEvent?: SessionStartEvent;
}) => Promise<CreateAgentSessionRuntimeResult>;

interface WithSession {
  /** Called with the new session, before whoever replaced the old one continues. */
  withSession?: (context: ReplacedSessionContext) => Promise<void>;
}

interface Cancelled {
  /** Whether an extension has cancelled it. */
  cancelled: boolean;
}

/** The file of an import does not exist. */
export class SessionImportFileNotFoundError extends Error {
  override readonly name = "SessionImportFileNotFoundError";
  readonly filePath: string;

  constructor(filePath: string) {
    super(`There is no file ${filePath} to import.`);
    this.filePath = filePath;
  }
}

export class AgentSessionRuntime {
  readonly #create: CreateAgentSessionRuntimeFactory;
  #current: Omit<CreateAgentSessionRuntimeResult, "extensionsResult">;
  #rebindSession: ((session: AgentSession) => Promise<void>) | undefined;
  #beforeInvalidate: (() => void) | undefined;

  constructor(
    session: AgentSession,
    services: AgentSessionServices,
    createRuntime: CreateAgentSessionRuntimeFactory,
    diagnostics: AgentSessionRuntimeDiagnostic[] = [],
    modelFallbackMessage?: string,
  ) {
    this.#create = createRuntime;
    this.#current = { session, services, diagnostics, ...(modelFallbackMessage && { modelFallbackMessage }) };
  }

  get session(): AgentSession {
    return this.#current.session;
  }

  get services(): AgentSessionServices {
    return this.#current.services;
  }

  get cwd(): string {
    return this.services.cwd;
  }

  get diagnostics(): readonly AgentSessionRuntimeDiagnostic[] {
    return this.#current.diagnostics;
  }

  get modelFallbackMessage(): string | undefined {
    return this.#current.modelFallbackMessage;
  }

  /** Called with each session that replaces another one. */
  setRebindSession(rebindSession?: (session: AgentSession) => Promise<void>): void {
    this.#rebindSession = rebindSession;
  }

  /** Called before the extensions of a session can no longer use it. */
  setBeforeSessionInvalidate(beforeInvalidate?: () => void): void {
    this.#beforeInvalidate = beforeInvalidate;
  }

  async newSession(
    options: { parentSession?: string; setup?: (session: SessionManager) => Promise<void> } & WithSession = {},
  ): Promise<Cancelled> {
    const { parentSession, setup, withSession } = options;
    if (await this.#isCancelled({ type: "session_before_switch", reason: "new" })) return { cancelled: true };
    const manager = this.#createLike();
    if (parentSession !== undefined) manager.newSession({ parentSession });
    await setup?.(manager);
    await this.#replace(manager, { reason: "new", withSession });
    return { cancelled: false };
  }

  async switchSession(
    sessionPath: string,
    { cwdOverride, withSession }: { cwdOverride?: string } & WithSession = {},
  ): Promise<Cancelled> {
    const targetSessionFile = resolve(sessionPath);
    const event = { type: "session_before_switch", reason: "resume", targetSessionFile };
    if (await this.#isCancelled(event)) return { cancelled: true };
    const manager = SessionManager.open(targetSessionFile, undefined, cwdOverride);
    checkSessionDirectory(manager, this.cwd);
    await this.#replace(manager, { reason: "resume", withSession });
    return { cancelled: false };
  }

  /** Before a message of the user, whose text is returned, or with the entry as the last one. */
  async fork(
    entryId: string,
    { position = "before", withSession }: { position?: "before" | "at" } & WithSession = {},
  ): Promise<Cancelled & { selectedText?: string }> {
    if (await this.#isCancelled({ type: "session_before_fork", entryId, position })) return { cancelled: true };
    const { sessionManager } = this.session;
    const entry = sessionManager.getEntry(entryId);
    if (!entry) throw new Error("Invalid entry ID for forking");
    const isBefore = position === "before";
    if (isBefore && (entry.type !== "message" || entry.message.role !== "user")) {
      throw new Error("Invalid entry ID for forking");
    }
    const leafId = isBefore ? entry.parentId : entry.id;
    await this.#replace(this.#branchAt(leafId), { reason: "fork", withSession });
    if (!isBefore || entry.type !== "message" || entry.message.role !== "user") return { cancelled: false };
    return { cancelled: false, selectedText: contentText(entry.message.content) };
  }

  /** Copies a file of another place into the directory of sessions, and opens the copy. */
  async importFromJsonl(inputPath: string, cwdOverride?: string): Promise<Cancelled> {
    const source = resolve(inputPath);
    if (!existsSync(source)) throw new SessionImportFileNotFoundError(source);
    const directory = this.session.sessionManager.getSessionDir();
    const target = join(directory, basename(source));
    const event = { type: "session_before_switch", reason: "resume", targetSessionFile: target };
    if (await this.#isCancelled(event)) return { cancelled: true };
    checkSessionDirectory(SessionManager.open(source, directory, cwdOverride), this.cwd);
    mkdirSync(directory, { recursive: true });
    if (target !== source) copyFileSync(source, target);
    await this.#replace(SessionManager.open(target, directory, cwdOverride), { reason: "resume" });
    return { cancelled: false };
  }

  async dispose(): Promise<void> {
    await this.#close("quit");
  }

  async #isCancelled(event: { type: string; [key: string]: unknown }): Promise<boolean> {
    const verdict = await this.session.extensionRunner.emit(event);
    return verdict?.["cancel"] === true;
  }

  #createLike(): SessionManager {
    const { sessionManager } = this.session;
    return sessionManager.isPersisted()
      ? SessionManager.create(this.cwd, sessionManager.getSessionDir())
      : SessionManager.inMemory(this.cwd);
  }

  #branchAt(leafId: string | null): SessionManager {
    const { sessionManager } = this.session;
    const file = sessionManager.getSessionFile();
    if (leafId === null) {
      const manager = this.#createLike();
      if (file !== undefined) manager.newSession({ parentSession: file });
      return manager;
    }
    // A session without an answer has no file yet.
    const hasFile = file !== undefined && existsSync(file);
    const manager = hasFile ? SessionManager.open(file, sessionManager.getSessionDir()) : sessionManager;
    manager.createBranchedSession(leafId);
    return manager;
  }

  async #replace(
    sessionManager: SessionManager,
    {
      reason,
      withSession,
    }: { reason: "new" | "resume" | "fork" } & { [K in keyof WithSession]: WithSession[K] | undefined },
  ): Promise<void> {
    const previousSessionFile = this.session.sessionFile;
    const { agentDir } = this.services;
    await this.#close(reason, sessionManager.getSessionFile());
    const cwd = sessionManager.getCwd();
    this.#current = await this.#create({
      cwd,
      agentDir,
      sessionManager,
      sessionStartEvent: {
        type: "session_start",
        reason,
        ...(previousSessionFile !== undefined && { previousSessionFile }),
      },
    });
    await this.#rebindSession?.(this.session);
    await withSession?.(this.session.createReplacedSessionContext());
  }

  async #close(reason: "new" | "resume" | "fork" | "quit", targetSessionFile?: string): Promise<void> {
    const { session } = this;
    await session.abort();
    const runner = session.extensionRunner;
    await runner.emit({ type: "session_shutdown", reason, ...(targetSessionFile && { targetSessionFile }) });
    this.#beforeInvalidate?.();
    runner.invalidate();
    session.dispose();
  }
}

/** Creates the first session of a program. The runtime creates all later ones with the same function. */
export async function createAgentSessionRuntime(
  createRuntime: CreateAgentSessionRuntimeFactory,
  options: { cwd: string; agentDir: string; sessionManager: SessionManager; sessionStartEvent?: SessionStartEvent },
): Promise<AgentSessionRuntime> {
  checkSessionDirectory(options.sessionManager, options.cwd);
  const { session, services, diagnostics, modelFallbackMessage } = await createRuntime(options);
  return new AgentSessionRuntime(session, services, createRuntime, diagnostics, modelFallbackMessage);
}
