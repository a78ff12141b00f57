/** The sessions that are open in the gateway. They are opened when they are used. */
import { type AgentSessionParams, SessionManager } from "@tau/harness";
import type { AfterCrash, Host, HostedSession } from "@tau/harness/host";
import { findSession, getWorkingDirectory } from "@tau/harness/session";
import type { OpenSessionData } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";

/** Opens a host for the sessions of a directory: with its settings, its trust and its extensions. */
export type OpenDirectory = (cwd: string, params: GatewaySessionParams) => Promise<Host>;

/** What the sessions of a gateway are created with, besides what their directory says. */
export type GatewaySessionParams = Required<Pick<AgentSessionParams, "afterCrash">>;

export interface OpenSession {
  readonly host: Host;
  readonly hosted: HostedSession;
}

export interface OpenSessionsOptions {
  agentDir: string;
  openDirectory: OpenDirectory;
  afterCrash: AfterCrash;
  /** Called with each session that was opened. */
  onOpened: (hosted: HostedSession) => void;
}

export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  /** By directory. */
  readonly #hosts = new Map<string, Promise<Host>>();

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
  }

  async list(): Promise<OpenSessionData[]> {
    const hosts = await Promise.all(this.#hosts.values());
    return hosts.flatMap((host) => host.sessionIds.map((id) => describe(host.get(id))));
  }

  async create(cwd: string, agentName?: string): Promise<OpenSession> {
    const host = await this.#getHost(cwd);
    const sessionId = await host.create(agentName === undefined ? {} : { agentName });
    this.#options.onOpened(host.get(sessionId));
    return { host, hosted: host.get(sessionId) };
  }

  /** The session with this id, which is opened if it is not. Throws `not_found`. */
  async open(sessionId: string): Promise<OpenSession> {
    const known = await this.find(sessionId);
    if (known) return known;
    const { agentDir } = this.#options;
    const path = await findSession(sessionId, { cwd: process.cwd(), agentDir, directory: undefined });
    const manager = await SessionManager.open(path, { agentDir });
    const host = await this.#getHost(await getWorkingDirectory(manager, process.cwd()));
    await host.open(manager);
    this.#options.onOpened(host.get(sessionId));
    return { host, hosted: host.get(sessionId) };
  }

  /** Undefined if it is not open. */
  async find(sessionId: string): Promise<OpenSession | undefined> {
    for (const opening of this.#hosts.values()) {
      const host = await opening;
      if (host.sessionIds.includes(sessionId)) return { host, hosted: host.get(sessionId) };
    }
    return undefined;
  }

  async close(sessionId: string): Promise<void> {
    const open = await this.find(sessionId);
    if (!open) throw new GatewayError("not_found", `The session ${JSON.stringify(sessionId)} is not open.`);
    await open.host.close(sessionId);
  }

  async dispose(reason?: unknown): Promise<void> {
    const hosts = await Promise.all(this.#hosts.values());
    this.#hosts.clear();
    await Promise.all(hosts.map((host) => host.dispose(reason)));
  }

  #getHost(cwd: string): Promise<Host> {
    const { openDirectory, afterCrash } = this.#options;
    const opening = this.#hosts.get(cwd) ?? openDirectory(cwd, { afterCrash });
    this.#hosts.set(cwd, opening);
    return opening;
  }
}

export function describe({ session, view }: HostedSession): OpenSessionData {
  return {
    sessionId: session.sessionId,
    cwd: session.cwd,
    ...(view.log.name !== undefined && { name: view.log.name }),
    status: view.live.run ? "running" : "idle",
    approvals: view.live.approvals.length,
  };
}
