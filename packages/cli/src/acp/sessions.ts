/** The sessions of a connection: opened in their directories, listed and deleted. */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { type SessionInfo, SessionManager, trashSession } from "@tau/harness/session";
import { getSessionTitle } from "@tau/protocol/surface";
import { openCommandContext } from "../commands/command-context.ts";
import type { Io } from "../commands/command.ts";
import { openHost } from "../hosting/open-host.ts";
import { firstRunText } from "../start/first-run.ts";
import type { SessionOptions } from "../start/session-options.ts";
import type { Connection } from "../json-rpc/connection.ts";
import { createEditor } from "./editor.ts";
import { JsonRpcError } from "@tau/protocol/json-rpc";
import { createServersExtension, type McpServerEntry } from "./mcp-servers.ts";
import type { ClientCapabilities, ListSessionsResponse } from "./schema.generated.ts";
import { EditorSession } from "./session.ts";

/** How long a permission request may stay unanswered before the call is denied. */
const answerLimitMs = 60 * 60 * 1_000;

/** How many sessions `session/list` answers with at once. */
const pageSize = 100;

export interface OpenRequest {
  cwd: string;
  additionalDirectories: readonly string[];
  mcpServers: ReadonlyMap<string, McpServerEntry>;
}

interface EditorSessionsParts {
  options: SessionOptions;
  io: Io;
  connection: Connection;
  getCapabilities: () => ClientCapabilities;
}

export class EditorSessions {
  readonly #parts: EditorSessionsParts;
  readonly #open = new Map<string, EditorSession>();
  #isClosed = false;

  constructor(parts: EditorSessionsParts) {
    this.#parts = parts;
  }

  /** The session, if it is open. */
  find(sessionId: string): EditorSession | undefined {
    return this.#open.get(sessionId);
  }

  /** Throws `not_found` for a session that is not open. */
  get(sessionId: string): EditorSession {
    const session = this.find(sessionId);
    if (session) return session;
    throw new JsonRpcError(
      "not_found",
      `The session ${JSON.stringify(sessionId)} is not open. Load or resume it first.`,
    );
  }

  async create(request: OpenRequest): Promise<EditorSession> {
    return await this.#openSession(request, undefined);
  }

  /** Opens a stored session. One that is open stays as it is. */
  async openStored(sessionId: string, request: OpenRequest): Promise<EditorSession> {
    const open = this.#open.get(sessionId);
    if (open) return open;
    await mustBeDirectory(request.cwd, "cwd");
    const stored = await this.#find(sessionId, request.cwd);
    if (stored) return await this.#openSession(request, stored.path);
    throw new JsonRpcError("not_found", `There is no session ${JSON.stringify(sessionId)}.`);
  }

  async #openSession(
    { cwd, additionalDirectories, mcpServers }: OpenRequest,
    path: string | undefined,
  ): Promise<EditorSession> {
    const { options, io, connection } = this.#parts;
    const client = this.#parts.getCapabilities();
    await mustBeDirectory(cwd, "cwd");
    for (const directory of additionalDirectories) await mustBeDirectory(directory, "additionalDirectories");
    const report = (message: string) => io.err(`tau: ${message}\n`);
    const roots = await Promise.all([cwd, ...additionalDirectories].map((directory) => realpath(directory)));
    const editor = createEditor({ connection, client, roots, env: io.env, report });
    const { host, sessionId } = await openHost(
      {
        ...options,
        addDir: [...options.addDir, ...additionalDirectories],
        ...(path !== undefined && { session: path }),
      },
      { ...io, cwd },
      {
        ask: { isAttended: () => true, timeoutMs: () => answerLimitMs },
        reason: path === undefined ? "startup" : "resume",
        ...(mcpServers.size > 0 && { factories: [createServersExtension(mcpServers)] }),
        params: { fileAuthority: "model", ...editor.params },
      },
    );
    try {
      const { model, modelProblem } = host.get(sessionId).session;
      if (!model) throw new JsonRpcError("auth_required", modelProblem ?? firstRunText.replace(/^tau: /, ""));
      if (this.#isClosed) throw new JsonRpcError("cancelled", "The client has disconnected.");
      const session = new EditorSession({ host, sessionId, connection, client, report });
      editor.bind(session);
      this.#open.set(sessionId, session);
      return session;
    } catch (error) {
      await host.dispose();
      throw error;
    }
  }

  async list(cwd: string | undefined, cursor: string | undefined): Promise<ListSessionsResponse> {
    const sessions = await this.#listStored(cwd);
    const start = cursor === undefined ? 0 : sessions.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && start === 0)
      throw new JsonRpcError("invalid_params", "The cursor is not valid any more. List from the beginning.");
    const page = sessions.slice(start, start + pageSize);
    const last = page.at(-1);
    return {
      sessions: page.map((info) => ({
        sessionId: info.id,
        cwd: info.cwd,
        title: getSessionTitle(info),
        updatedAt: info.modified.toISOString(),
      })),
      ...(last && start + page.length < sessions.length && { nextCursor: last.id }),
    };
  }

  /** Moves a session to the trash. One that does not exist is deleted already. */
  async delete(sessionId: string): Promise<void> {
    await this.close(sessionId);
    const stored = await this.#find(sessionId);
    if (stored) await trashSession(stored.path);
  }

  /** Ends its run and closes it. One that is not open stays so. */
  async close(sessionId: string): Promise<void> {
    const session = this.#open.get(sessionId);
    this.#open.delete(sessionId);
    await session?.close();
  }

  /** Ends all runs, because the client has disconnected. The sessions can be loaded again. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((session) => session.close("gateway_disconnected")));
  }

  /** By its whole id: of an editor, a path or the beginning of an id is an error. */
  async #find(sessionId: string, cwd?: string): Promise<SessionInfo | undefined> {
    const isIt = ({ id }: SessionInfo) => id === sessionId;
    const near = cwd === undefined ? undefined : (await this.#listStored(cwd)).find(isIt);
    return near ?? (await this.#listStored(undefined)).find(isIt);
  }

  async #listStored(cwd: string | undefined): Promise<SessionInfo[]> {
    const { io, options } = this.#parts;
    const context = await openCommandContext({ ...io, cwd: cwd ?? io.cwd }, options.sessionDir);
    const { agentDir, directory } = context;
    try {
      if (cwd !== undefined) return await SessionManager.list(cwd, directory, { agentDir });
      const all = await SessionManager.listAll({ agentDir });
      if (directory === undefined) return all;
      const own = await SessionManager.list(io.cwd, directory, { agentDir });
      return [...own, ...all.filter(({ id }) => !own.some((session) => session.id === id))];
    } finally {
      await context.settings.close();
    }
  }
}

async function mustBeDirectory(path: string, field: string): Promise<void> {
  if (!isAbsolute(path)) throw new JsonRpcError("invalid_params", `"${field}": ${path} is not an absolute path.`);
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return;
  throw new JsonRpcError("invalid_params", `"${field}": there is no directory ${path}.`);
}
