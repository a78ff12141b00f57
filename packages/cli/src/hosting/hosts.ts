/** The hosts of the interactive terminal: one for each directory whose sessions were opened. */
import { realpath } from "node:fs/promises";
import { SessionManager } from "@tau/harness";
import type { SettingsManager } from "@tau/config/settings";
import type { Host, HostedSession } from "@tau/harness/host";
import { getAgentDir } from "./agent-dir.ts";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { createHostClient } from "./host-client.ts";
import type { SessionClient } from "../interactive/session-client.ts";
import type { DemoSession } from "../interactive/program.ts";
import { askAtTerminal, openHost, type OpenHostChoices } from "./open-host.ts";
import { HarnessError } from "@tau/protocol";

interface OpenHost {
  host: Host;
  /** The settings of its sessions. */
  settings: SettingsManager;
  close: () => Promise<void>;
}

export class Hosts {
  readonly #options: SessionOptions;
  readonly #io: Io;
  /** By the real path of the directory, which may have several names. */
  readonly #hosts = new Map<string, OpenHost>();

  constructor(options: SessionOptions, io: Io) {
    this.#options = options;
    this.#io = io;
  }

  /** The session that the flags name. `-r` is answered later, in the interface. */
  async open(): Promise<SessionClient> {
    const { resume, ...others } = this.#options;
    return await this.#add(resume === true ? others : this.#options);
  }

  /**
   * A session of another directory, which works there. Flags that were meant for the first one do not apply, above all its
   * key and its trust. Nothing is asked on standard error, where the interface is.
   */
  async openSession(path: string, cwd: string): Promise<SessionClient> {
    const known = this.#hosts.get(await toRealPath(cwd));
    if (known) return this.#createClient(known.host, await this.#openAgain(known, path));
    return await this.#add(toOptionsElsewhere(this.#options, path), { asksTrust: false, reason: "resume" });
  }

  /** A session with extensions was closed when another one was shown, so there may be none to open others like it. */
  async #openAgain({ host, settings }: OpenHost, path: string): Promise<string> {
    const from = host.sessionIds.at(-1);
    if (from !== undefined) return (await host.execute(from, { type: "switch_session", sessionPath: path })).sessionId;
    const { durability } = settings.get();
    const log = await SessionManager.open(path, { agentDir: getAgentDir(this.#io), durability });
    return await host.open(log, "resume");
  }

  /** A session in a temporary directory, with a model that follows a script. */
  async openDemo(): Promise<DemoSession> {
    const [{ openDemoHost }, { demoRequest }] = await Promise.all([
      import("../modes/demo-host.ts"),
      import("../modes/demo-script.ts"),
    ]);
    const demo = await openDemoHost(this.#io);
    const { cwd, settingsManager: settings } = demo.host.get(demo.sessionId).session;
    const path = await toRealPath(cwd);
    this.#hosts.set(path, { ...demo, settings });
    const close = async () => {
      this.#hosts.delete(path);
      await demo.close();
    };
    return { client: this.#createClient(demo.host, demo.sessionId), request: demoRequest, close };
  }

  /** Throws for a session that is not open. */
  get(sessionId: string): HostedSession {
    const owner = [...this.#hosts.values()].find(({ host }) => host.sessionIds.includes(sessionId));
    if (!owner) throw new HarnessError("closed", `The session ${sessionId} is not open.`);
    return owner.host.get(sessionId);
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map(({ close }) => close()));
  }

  async #add(options: SessionOptions, choices: OpenHostChoices = {}): Promise<SessionClient> {
    const { host, sessionId } = await openHost(options, this.#io, { ask: askAtTerminal, isTerminal: true, ...choices });
    const { cwd, settingsManager: settings } = host.get(sessionId).session;
    this.#hosts.set(await toRealPath(cwd), { host, settings, close: () => host.dispose() });
    return this.#createClient(host, sessionId);
  }

  #createClient(host: Host, sessionId: string): SessionClient {
    return createHostClient(host, sessionId, (id) => this.get(id).session);
  }
}

/** A directory that is gone keeps its name. */
const toRealPath = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Options that were meant for the first session alone. */
const firstSessionOptions = [
  "resume",
  "name",
  "fork",
  "sessionId",
  "agent",
  "model",
  "role",
  "provider",
  "thinking",
  "apiKey",
] as const;

function toOptionsElsewhere(options: SessionOptions, path: string): SessionOptions {
  const others = { ...options, session: path, continue: false, noSession: false };
  for (const name of firstSessionOptions) delete others[name];
  // `--no-approve` is about every project, `--approve` about the one that the user was looking at.
  if (others.approve === true) delete others.approve;
  return others;
}
