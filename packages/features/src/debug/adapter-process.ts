/** The process of an adapter: how it is started, connected to, and how commands are run beside it in its sandbox. */
import { constants, type Stats } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { createServer, connect as connectSocket, type Socket } from "node:net";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type Clock, systemClock } from "@tau/ai";
import { closeAfter } from "@tau/ai/internal";
import type { Program } from "@tau/tools";
import { unlessMissing } from "@tau/tools/platform";
import { formatCommandLine } from "../kit/command-line.ts";
import { hostPrograms } from "../kit/host-programs.ts";
import type { Spawner } from "../kit/run-git.ts";
import type { DapResolvedAdapter } from "./adapters.ts";
import { DebugFailure } from "./failure.ts";
import { openSharedDirectory } from "./shared-directory.ts";

export interface DapSpawnOptions {
  adapter: DapResolvedAdapter;
  cwd: string;
  /** Default: outside of any sandbox. */
  spawn?: Spawner["spawn"];
  clock?: Clock;
  /** Whether it runs with the rights of the user, because it attaches to a program that does. Default false. */
  isOutside?: boolean;
  platform?: NodeJS.Platform;
}

/** The two directions of a connection to an adapter. */
export interface DapConnection {
  readonly input: Writable;
  readonly output: Readable;
  close(): void;
}

interface TerminalCommand {
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | null>>;
}

const maxPrintedLength = 8 * 1024;
const connectTimeoutMs = 15_000;
const connectEveryMs = 50;
/** The room of a pipe, which is written at once. */
const maxCommandLength = 32 * 1024;

/**
 * Runs the adapter and, beside it, the commands whose lines arrive in a pipe: what an adapter asks to be run in a terminal has to
 * share its sandbox, because they talk to each other there. Its output is taken with that of the adapter for people.
 */
const startScript = [
  'mkfifo -m 600 "$1/commands"',
  'while :; do while IFS= read -r line; do eval "$line" </dev/null & done <"$1/commands" || break; done >&2 </dev/null &',
  "beside=$!",
  "shift",
  '"$@"',
  "status=$?",
  "kill $beside 2>/dev/null",
  "exit $status",
].join("\n");

export class AdapterProcess {
  readonly adapter: DapResolvedAdapter;
  readonly #program: Program;
  readonly #directory: string;
  readonly #connect: () => Promise<DapConnection>;
  readonly #listeners = new Set<(text: string) => void>();
  #printed = "";

  private constructor(
    adapter: DapResolvedAdapter,
    started: { program: Program; directory: string; connect: () => Promise<DapConnection> },
  ) {
    this.adapter = adapter;
    this.#program = started.program;
    this.#directory = started.directory;
    this.#connect = started.connect;
    // An adapter that has a socket prints on both for people.
    const forPeople = this.hasManyConnections ? [this.#program.stderr, this.#program.stdout] : [this.#program.stderr];
    for (const stream of forPeople) stream.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    this.#program.stderr.on("error", () => {});
    this.#program.stdin.on("error", () => {});
  }

  static async start(options: DapSpawnOptions): Promise<AdapterProcess> {
    const { adapter, cwd, spawn = hostPrograms.spawn, clock = systemClock, platform = process.platform } = options;
    const shared = await openSharedDirectory();
    const directory = shared.path;
    const isSocket = adapter.connectMode === "socket";
    const dial = isSocket && platform === "darwin" ? adapter.socket?.dial : undefined;
    const path = join(directory, "socket");
    const listener = dial && (await listen());
    const replace = (part: string) => part.replaceAll("$path", path).replaceAll("$port", String(listener?.port));
    const socketArgs = isSocket ? (dial ?? adapter.socket?.listen ?? []).map(replace) : [];
    const args = ["-c", startScript, "sh", directory, adapter.resolvedCommand, ...adapter.args, ...socketArgs];
    try {
      const { isOutside = false } = options;
      const sandbox = isOutside ? (false as const) : { allowedPaths: [directory] };
      // With the rights of the user it must not find anything that a project has put into its directory.
      const program = await spawn("/bin/sh", args, { cwd: isOutside || adapter.avoidsProject ? "/" : cwd, sandbox });
      void program.exit.then(() => {
        listener?.close();
        return shared.remove().catch(() => undefined);
      });
      if (!isSocket) {
        let isTaken = false;
        const connect = async (): Promise<DapConnection> => {
          if (isTaken) throw new Error("An adapter on pipes has one connection.");
          isTaken = true;
          return { input: program.stdin, output: program.stdout, close: () => program.stdin.end() };
        };
        return new AdapterProcess(adapter, { program, directory, connect });
      }
      const connect = listener ? () => listener.accept(clock) : () => connectToAdapter(path, program, clock);
      return new AdapterProcess(adapter, { program, directory, connect });
    } catch (error) {
      listener?.close();
      await shared.remove();
      throw error;
    }
  }

  /** The end of what it printed for people. */
  get printed(): string {
    return this.#printed;
  }

  /** Settles when nothing of it is left, and everything that it printed was read. */
  get exit(): Program["exit"] {
    const { exit, stderr, stdout } = this.#program;
    return exit.then(async (status) => {
      for (const stream of this.hasManyConnections ? [stderr, stdout] : [stderr]) {
        if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", resolve));
      }
      return status;
    });
  }

  /** Whether it has a connection for each session. */
  get hasManyConnections(): boolean {
    return this.adapter.connectMode === "socket";
  }

  async connect(): Promise<DapConnection> {
    return await this.#connect();
  }

  /** Calls back with what it, or a command beside it, prints for people from now on. The same listener is called once. */
  onPrinted(listener: (text: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Runs a command in the sandbox of the adapter. Rejects if it cannot be given to it. */
  async runBeside(command: TerminalCommand): Promise<void> {
    const line = formatCommand(command);
    // Programs in the sandbox can change the directory, so that nothing else may be written to than the pipe.
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    const pipe = await open(join(this.#directory, "commands"), flags);
    try {
      if (!(await pipe.stat()).isFIFO()) throw new DebugFailure("refused", "There is no pipe for commands any more.");
      await pipe.write(line);
    } finally {
      await pipe.close();
    }
  }

  async close(): Promise<void> {
    await this.#program.end();
  }

  #take(text: string): void {
    this.#printed = (this.#printed + text).slice(-maxPrintedLength);
    for (const listener of this.#listeners) listener(text);
  }
}

/** Throws for a command that does not fit into a line. */
function formatCommand({ args, cwd, env }: TerminalCommand): string {
  const unset = Object.entries(env).flatMap(([name, value]) => (value === null ? ["-u", name] : []));
  const set = Object.entries(env).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
  const line = `${formatCommandLine(["cd", cwd])} && exec ${formatCommandLine(["env", ...unset, ...set, ...args])}`;
  // oxlint-disable-next-line no-control-regex -- they cannot be in a line
  if (/[\0\n\r]/.test(line)) throw new DebugFailure("refused", "The command has a line break in it.");
  if (line.length > maxCommandLength) throw new DebugFailure("refused", "The command is too long.");
  return `${line}\n`;
}

const toConnection = (socket: Socket): DapConnection => {
  socket.on("error", () => {});
  return { input: socket, output: socket, close: () => socket.destroy() };
};

async function connectToAdapter(path: string, program: Program, clock: Clock): Promise<DapConnection> {
  const deadline = clock.monotonic() + connectTimeoutMs;
  let hasEnded = false;
  void program.exit.then(() => (hasEnded = true));
  while (!hasEnded && clock.monotonic() < deadline) {
    const socket = await tryConnect(path);
    if (socket) return toConnection(socket);
    await new Promise<void>((resolve) => clock.setTimer(connectEveryMs, resolve));
  }
  throw hasEnded
    ? new DebugFailure("ended", "The adapter ended before it listened.")
    : new DebugFailure("timeout", `The adapter did not listen within ${connectTimeoutMs / 1_000} seconds.`);
}

/** `O_PATH`: opens a name only. Linux alone has it. */
const asName = 0o10000000;

/**
 * Connects to the socket at a path; undefined if nobody listens there yet. Programs in the sandbox can change the directory: a link in
 * it could lead to a socket that only the user may reach.
 */
async function tryConnect(path: string): Promise<Socket | undefined> {
  if (process.platform !== "linux") {
    const stats = await unlessMissing(lstat(path));
    return stats && connectTo(path, stats);
  }
  const name = await unlessMissing(open(path, asName | constants.O_NOFOLLOW));
  // Through the open name, so that nothing else can take its place meanwhile.
  return name && (await closeAfter(name, async () => connectTo(`/proc/self/fd/${name.fd}`, await name.stat())));
}

async function connectTo(path: string, stats: Stats): Promise<Socket | undefined> {
  if (!stats.isSocket() || stats.nlink > 1)
    throw new DebugFailure("refused", "There is something else in the place of the adapter's socket.");
  return await new Promise((resolve) => {
    const socket = connectSocket(path);
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

/** Waits for an adapter that connects to us. */
async function listen() {
  const waiting: Socket[] = [];
  let wake: (() => void) | undefined;
  const server = createServer((socket) => {
    waiting.push(socket);
    wake?.();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const accept = async (clock: Clock): Promise<DapConnection> => {
    if (waiting.length === 0) {
      await new Promise<void>((resolve) => {
        const cancel = clock.setTimer(connectTimeoutMs, resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
    }
    const socket = waiting.shift();
    if (!socket) throw new DebugFailure("timeout", "The adapter did not connect.");
    return toConnection(socket);
  };
  return { port, accept, close: () => void server.close() };
}
