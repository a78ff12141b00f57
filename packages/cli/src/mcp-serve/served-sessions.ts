/** The sessions of a client of MCP, all in the directory in which the server was started. */
import { SerialQueue } from "@tau/ai/internal";
import { SessionManager } from "@tau/harness/session";
import { HarnessError } from "@tau/protocol";
import { openCommandContext } from "../commands/command-context.ts";
import type { Io } from "../commands/command.ts";
import { openHost } from "../hosting/open-host.ts";
import { firstRunText } from "../start/first-run.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { ServedSession } from "./served-session.ts";

/** Above it, the one that was opened first and has no run is closed. It can be continued nevertheless. */
const maxOpenSessions = 16;

export class ServedSessions {
  readonly #options: SessionOptions;
  readonly #io: Io;
  /** In the order in which they were opened. */
  readonly #open = new Map<string, ServedSession>();
  /** Runs begin one after the other: each may need the place of a session that has none. */
  readonly #opening = new SerialQueue();
  #isClosed = false;

  constructor(options: SessionOptions, io: Io) {
    this.#options = options;
    this.#io = io;
  }

  /** Throws `HarnessError` for a session that is not open. */
  get(id: string): ServedSession {
    const session = this.#open.get(id);
    if (session) return session;
    throw new HarnessError("session_not_found", `The session ${JSON.stringify(id)} is not open here. Begin with run.`);
  }

  /** Begins a run in a new session, in an open one, or in a stored one of this directory. */
  async begin(prompt: string, { id, signal }: { id: string | undefined; signal: AbortSignal }): Promise<ServedSession> {
    return await this.#opening.add(async () => {
      if (signal.aborted || this.#isClosed) throw new HarnessError("aborted", "Nobody waits for the run any more.");
      const session = id === undefined ? await this.#openSession(undefined) : await this.#continue(id);
      if (!signal.aborted) session.begin(prompt);
      return session;
    });
  }

  async #continue(id: string): Promise<ServedSession> {
    const open = this.#open.get(id);
    if (open) return open;
    const path = await this.#find(id);
    if (path !== undefined) return await this.#openSession(path);
    throw new HarnessError("session_not_found", `There is no session ${JSON.stringify(id)} in this directory.`);
  }

  /** Ends all runs. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    const sessions = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }

  async #openSession(path: string | undefined): Promise<ServedSession> {
    await this.#makeRoom();
    // Without `ask`: nobody can be asked, and what needs an answer is denied.
    const { host, sessionId } = await openHost(
      { ...this.#options, ...(path !== undefined && { session: path }) },
      this.#io,
      { reason: path === undefined ? "startup" : "resume", asksTrust: false },
    );
    try {
      const { session } = host.get(sessionId);
      if (!session.model)
        throw new HarnessError("no_model", session.modelProblem ?? firstRunText.replace(/^tau: /, ""));
      if (this.#isClosed) throw new HarnessError("aborted", "The client has disconnected.");
      if (session.extensions) {
        const { noUi } = await import("@tau/extensions");
        const notify = (message: string) => this.#io.err(`tau: ${message}\n`);
        await session.attachSurface({ mode: "rpc", ui: { ...noUi, notify } });
      }
      const served = new ServedSession(host, sessionId);
      this.#open.set(sessionId, served);
      return served;
    } catch (error) {
      await host.dispose();
      throw error;
    }
  }

  async #makeRoom(): Promise<void> {
    if (this.#open.size < maxOpenSessions) return;
    const idle = [...this.#open.values()].find((session) => !session.isRunning);
    if (!idle) throw new HarnessError("busy", `${maxOpenSessions} sessions are running. Wait for one of them.`);
    this.#open.delete(idle.id);
    await idle.close();
  }

  async #find(id: string): Promise<string | undefined> {
    const { agentDir, directory, settings } = await openCommandContext(this.#io, this.#options.sessionDir);
    try {
      const sessions = await SessionManager.list(this.#io.cwd, directory, { agentDir });
      return sessions.find((session) => session.id === id)?.path;
    } finally {
      await settings.close();
    }
  }
}
