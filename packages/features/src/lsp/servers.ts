/** The language servers of a session: started when they are first asked, shared by the sessions of a process, ended when idle. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, untilAborted, untilTimeout } from "@tau/ai/internal";
import type { SharedResource } from "@tau/extensions";
import { isWithin } from "@tau/tools/platform";
import { LspClient } from "./client.ts";
import { LspError } from "./failure.ts";
import { chooseServers, type FindOptions, type FoundServer, listFitting } from "./find-server.ts";
import { wrapWithMux } from "./lspmux.ts";
import type { LspSpawn } from "./program.ts";
import type { ServerDefinition } from "./server-table.ts";

/** A server that nobody asks for this long is ended. */
export const maxIdleMs = 10 * 60_000;
/** A server that could not be started is not started again for this long. */
export const retryAfterMs = 3 * 60_000;

interface LspServersParts {
  cwd: string;
  clock: Clock;
  env: FindOptions["env"];
  isProjectTrusted: () => boolean;
  /** The servers that are configured now. */
  getServers: () => readonly ServerDefinition[];
  /** See `ExtensionAPI.shared`. */
  share: <T extends SharedResource>(key: string, open: (spawn: LspSpawn) => T | Promise<T>) => Promise<T>;
  /** Asks whether a server may be started that is not running. Rejects with an `LspError` if not. */
  allowStart: (found: FoundServer) => Promise<void>;
  log: (message: string) => void;
}

/** Knows about each server, by `command:cwd`, for all sessions of a process. */
class ServerRecords implements SharedResource {
  readonly byKey = new Map<string, ServerRecord>();

  get(key: string): ServerRecord {
    const record = this.byKey.get(key) ?? { starts: 0 };
    this.byKey.set(key, record);
    return record;
  }

  close(): void {}
}

interface ServerRecord {
  /** How often it was started. Each start is a resource of its own. */
  starts: number;
  client?: LspClient | undefined;
  /** How it was last started, by whichever session. */
  found?: FoundServer;
  failure?: { readonly at: number; readonly message: string; readonly root: string } | undefined;
}

interface RunningServer {
  readonly key: string;
  readonly client: LspClient;
}

export class LspServers {
  readonly #parts: LspServersParts;
  #records: Promise<ServerRecords> | undefined;
  /** The keys of those that this session has asked for. */
  readonly #asked = new Set<string>();

  constructor(parts: LspServersParts) {
    this.#parts = parts;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Lists the servers that fit a file, or the project, and the programs of those that are installed. */
  listFitting(file?: string): ReturnType<typeof listFitting> {
    const { cwd, env, isProjectTrusted, getServers } = this.#parts;
    return listFitting(getServers(), file, { cwd, env, isProjectTrusted: isProjectTrusted() });
  }

  /** Finds the servers for a file. Throws if there is none, and says what to install. */
  choose(file: string): { main: FoundServer; linters: FoundServer[] } {
    const { main, linters } = chooseServers(this.listFitting(file));
    if (main) return { main, linters };
    const [first] = linters;
    if (first) return { main: first, linters: linters.slice(1) };
    throw new LspError("unavailable", this.describeMissing(file));
  }

  /** Whether a server that is more than a linter is installed for a file. */
  hasServer(file: string): boolean {
    return chooseServers(this.listFitting(file)).main !== undefined;
  }

  /** Says what to install for a file without a server. */
  describeMissing(file: string): string {
    const wanted = this.listFitting(file).map(
      ({ definition }) => `${definition.name} (${definition.install || definition.command})`,
    );
    return wanted.length === 0
      ? `No language server is known for ${file}. The setting lsp.servers can add one.`
      : `No language server for ${file} is installed. Any of these would do: ${wanted.join("; ")}.${this.#explainTrust()}`;
  }

  /** Resolves with the running client of a server, which is started if it is not running. */
  async open(
    found: FoundServer,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<LspClient> {
    const { name } = found.definition;
    const starting = untilTimeout(this.#open(found), timeoutMs, this.#parts.clock);
    const started = await untilAborted(starting, signal);
    if (started.kind === "aborted") throw new LspError("aborted", "The call was stopped.");
    if (started.value.kind === "done") return started.value.value;
    throw new LspError(
      "timeout",
      `${name} was not ready within ${timeoutMs} ms. It is still starting: ask again later.`,
    );
  }

  /**
   * The running clients of this session's project, which are not started for it, or those for a file, linters after the main one. A
   * process may have sessions of other projects, and other people, whose servers are not for this one.
   */
  async listRunning(file?: string): Promise<RunningServer[]> {
    const { byKey } = await this.#getRecords();
    const keys =
      file === undefined
        ? [...byKey.keys()]
        : this.listFitting(file).flatMap(({ program, ...rest }) =>
            program === undefined ? [] : [getKey({ ...rest, program })],
          );
    return keys.flatMap((key) => {
      const client = byKey.get(key)?.client;
      return client && !client.hasEnded && this.#isOwn(key, client.root) ? [{ key, client }] : [];
    });
  }

  /** The failures of starts that are not repeated yet. */
  async listFailures(): Promise<{ key: string; message: string }[]> {
    const { byKey } = await this.#getRecords();
    return [...byKey].flatMap(([key, { failure }]) =>
      failure && this.#isOwn(key, failure.root) ? [{ key, message: failure.message }] : [],
    );
  }

  #isOwn(key: string, root: string): boolean {
    return this.#asked.has(key) || isWithin(this.#parts.cwd, root);
  }

  /** Ends a server; it starts again when it is needed. */
  async stop(key: string): Promise<void> {
    const record = (await this.#getRecords()).get(key);
    record.failure = undefined;
    await record.client?.close();
  }

  /** Ends a server and starts it. */
  async restart(key: string): Promise<LspClient | undefined> {
    await this.stop(key);
    const { found } = (await this.#getRecords()).get(key);
    return found && (await this.#open(found));
  }

  #explainTrust(): string {
    return this.#parts.isProjectTrusted() ? "" : " Programs of this project are used only after the user trusts it.";
  }

  async #getRecords(): Promise<ServerRecords> {
    this.#records ??= this.#parts.share("records", () => new ServerRecords());
    return await this.#records;
  }

  async #open(found: FoundServer): Promise<LspClient> {
    const { clock, share, log } = this.#parts;
    const { definition, root } = found;
    const key = getKey(found);
    this.#asked.add(key);
    const record = (await this.#getRecords()).get(key);
    record.found = found;
    const sinceMs = record.failure ? clock.monotonic() - record.failure.at : Infinity;
    if (record.failure && sinceMs < retryAfterMs) {
      const seconds = Math.ceil((retryAfterMs - sinceMs) / 1_000);
      throw new LspError(
        "start_failed",
        `${definition.name} could not be started, and is tried again in ${seconds} s (or with the action reload): ${record.failure.message}`,
      );
    }
    if (record.client?.hasEnded) forget(record, record.client);
    if (!record.client) await this.#parts.allowStart(found);
    try {
      const opened = await share(`${key}#${record.starts}`, async (spawn) => {
        log(`Starting the language server ${definition.name} in ${root}.`);
        const client = await this.#start(found, spawn);
        record.client = client;
        client.onEnd(() => forget(record, client));
        endWhenIdle(client, clock);
        return client;
      });
      record.failure = undefined;
      return opened;
    } catch (error) {
      record.failure = { at: clock.monotonic(), message: getErrorMessage(error), root };
      log(`The language server ${definition.name} could not be started: ${getErrorMessage(error)}`);
      throw error;
    }
  }

  async #start({ definition, root, program }: FoundServer, spawn: LspSpawn): Promise<LspClient> {
    const { cwd, clock, env, log } = this.#parts;
    const { name, args, initOptions, settings, isMuxable = false } = definition;
    const muxed = isMuxable ? await wrapWithMux({ program, args, root, cwd, env, spawn, clock }) : undefined;
    const running = muxed
      ? await spawn(muxed.command, muxed.args, { cwd: root, sandbox: false })
      : await spawn(program, args, { cwd: root });
    return await LspClient.start(running, {
      name,
      root,
      clock,
      log,
      ...(initOptions !== undefined && { initOptions }),
      ...(settings && { settings }),
    });
  }
}

/** Programs such as node run different servers, so that their arguments are part of the command. */
const getKey = ({ program, root, definition }: FoundServer): string =>
  `${[program, ...definition.args].join(" ")}:${root}`;

/** The next use starts another one. */
function forget(record: ServerRecord, client: LspClient | undefined): void {
  if (record.client !== client) return;
  record.client = undefined;
  record.starts++;
}

/** Ends a client that nobody asks. */
function endWhenIdle(client: LspClient, clock: Clock): void {
  const check = (): void => {
    if (client.hasEnded) return;
    const leftMs = maxIdleMs - client.idleMs;
    if (leftMs <= 0) void client.close("Nobody asked it anything for 10 minutes.");
    else cancel = clock.setTimer(leftMs, check);
  };
  let cancel = clock.setTimer(maxIdleMs, check);
  client.onEnd(() => cancel());
}
