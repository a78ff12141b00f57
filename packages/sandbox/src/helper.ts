/** A session's sandbox: one bubblewrap whose first process starts every command. */
import { spawn as nodeSpawn } from "node:child_process";
import { constants, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { type ConfinedLimits, type ConfinedProcess, type ExitStatus, type SpawnRequest, ToolsError } from "@tau/tools";
import { getErrorMessage } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";
import { HelperChannel, type Running, type Slot } from "./helper-channel.ts";
import {
  encodeAllow,
  encodeMount,
  encodeSignal,
  encodeSocket,
  encodeStart,
  type helperMountKinds,
} from "./helper-messages.ts";
import { unlessUnseen } from "./look.ts";
import { HandedSockets, type InnerSockets } from "./network/inner-sockets.ts";

interface HelperOptions {
  bwrap: string;
  helper: string;
  /** For bubblewrap, which reads its filter of system calls from descriptor 4. */
  arguments: readonly string[];
  filter: Buffer;
  /** The capabilities of commands. */
  capabilities: string;
  /** Directories in which commands may connect to sockets, by their real paths. Undefined: connections are not checked. */
  socketDirectories: readonly string[] | undefined;
}

export interface Helper {
  /** Undefined when the sandbox was ended from outside, so that nothing could be started. */
  start(request: SpawnRequest, limits: ConfinedLimits): Promise<ConfinedProcess | undefined>;
  /** For commands that are started afterwards. Answers with an error number, or 0. */
  mount(kind: keyof typeof helperMountKinds, path: string): Promise<number>;
  /** Sockets in the network of the commands. */
  readonly sockets: InnerSockets;
  /** The number of its first process here: its network is that of all commands. */
  readonly pid: number;
  readonly isOver: () => boolean;
  /** Ends everything inside. */
  close(): Promise<void>;
}

const descriptors = { arguments: 3, filter: 4, info: 5, channel: 6, handles: 7 };

/** Rejects with bubblewrap's own words when it does not start. */
export async function openHelper(options: HelperOptions): Promise<Helper> {
  const { bwrap, helper, capabilities, socketDirectories } = options;
  const guard = socketDirectories ? "1" : "0";
  const program = [helper, String(descriptors.channel), capabilities, String(descriptors.handles), guard];
  const argv = ["--args", "3", "--info-fd", "5", "--", ...program];
  const child = nodeSpawn(bwrap, argv, {
    cwd: "/",
    // Nothing of ours: what it has can be read inside.
    env: {},
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe", "pipe", "ipc"],
  });
  const stream = (index: number) => {
    const socket = child.stdio[index] as Socket;
    // A process that is gone does not read on; its exit says so.
    socket.on("error", () => undefined);
    return socket;
  };
  stream(descriptors.arguments).end(options.arguments.map((text) => `${text}\0`).join(""));
  stream(descriptors.filter).end(options.filter);
  const [info, complaint] = [collect(stream(descriptors.info)), collect(stream(2))];
  return await new Promise<Helper>((resolve, reject) => {
    child.once("error", reject);
    const channel = new HelperChannel(child, stream(descriptors.channel), () => {
      const pid = findPid(info());
      if (pid === undefined) {
        reject(new ToolsError("unavailable", "bubblewrap did not report the id of its first process."));
        return void channel.close();
      }
      for (const directory of socketDirectories ?? []) channel.send(encodeAllow(directory));
      const sockets = new HandedSockets(child, pid, (request) => channel.send(encodeSocket(request)));
      resolve(new SessionHelper(channel, pid, sockets));
    });
    void channel.ended.then(() =>
      reject(new ToolsError("unavailable", complaint().trim() || "bubblewrap ended without a message.")),
    );
  });
}

/** From what bubblewrap writes about itself, as JSON. */
const findPid = (info: string): number | undefined => {
  const digits = /"child-pid":\s*(\d+)/.exec(info)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

function collect(stream: Readable): () => string {
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  return () => Buffer.concat(pieces).toString();
}

class SessionHelper implements Helper {
  readonly pid: number;
  readonly sockets: InnerSockets;
  readonly #channel: HelperChannel;

  constructor(channel: HelperChannel, pid: number, sockets: InnerSockets) {
    this.#channel = channel;
    this.pid = pid;
    this.sockets = sockets;
  }

  readonly isOver = (): boolean => this.#channel.isOver;

  async start(request: SpawnRequest, limits: ConfinedLimits): Promise<ConfinedProcess | undefined> {
    const slot = await this.#channel.takeSlot();
    if (!slot) return this.isOver() ? undefined : notStarted("The sandbox has no descriptors left.");
    // The helper closes its ends when the command starts, so ours have to be open before.
    const pipes = this.#openPipes(slot, request.stdin === "pipe");
    if ("failure" in pipes) return pipes.failure === "gone" ? undefined : notStarted(pipes.failure);
    const { stdin, stdout, stderr } = pipes;
    stdin?.on("error", () => undefined);
    let settle!: Running["settle"];
    const exit = new Promise<ExitStatus>((resolve) => (settle = resolve));
    const running: Running = { pid: undefined, hadLeftovers: false, settle };
    this.#channel.run(slot.slot, running);
    const send = (signal: NodeJS.Signals, isForAll: boolean) =>
      this.#channel.isOver || this.#channel.send(encodeSignal(slot.slot, signal, isForAll));
    this.#channel.send(encodeStart(slot.slot, request, limits));
    return {
      // Its number is known inside only.
      pid: undefined,
      stdin,
      stdout,
      stderr,
      exit,
      signal: (name) => void send(name, false),
      killAll: () => void send("SIGKILL", true),
      findFirst: async () => (running.pid === undefined ? undefined : findChild(this.pid, running.pid)),
      hadLeftovers: () => running.hadLeftovers,
    };
  }

  mount(kind: keyof typeof helperMountKinds, path: string): Promise<number> {
    return this.#channel.mount(encodeMount(kind, path));
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  /** Pipes, because programs open `/dev/stdout` again, which cannot be done with a socket. */
  #openPipes(slot: Slot, usesStdin: boolean): Pipes | { failure: string } {
    const opened: Socket[] = [];
    const open = (descriptor: number, isReadable: boolean): Socket => {
      const access = (isReadable ? constants.O_RDONLY : constants.O_WRONLY) | constants.O_NONBLOCK;
      const fd = openSync(`/proc/${this.pid}/fd/${descriptor}`, access);
      opened.push(new Socket({ fd, readable: isReadable, writable: !isReadable }));
      return opened.at(-1)!;
    };
    try {
      const [stdout, stderr] = [open(slot.stdout, true), open(slot.stderr, true)];
      return { stdout, stderr, stdin: usesStdin ? open(slot.stdin, false) : null };
    } catch (error) {
      for (const socket of opened) socket.destroy();
      const code = systemCode(error);
      if (code === undefined) throw error;
      return { failure: goneCodes.has(code) ? "gone" : getErrorMessage(error) };
    }
  }
}

interface Pipes {
  stdin: Socket | null;
  stdout: Socket;
  stderr: Socket;
}

/** A process that is killed has no descriptors any more, before its end is reported. */
const goneCodes: ReadonlySet<string> = new Set(["ENOENT", "ESRCH", "EACCES"]);

/** The number that a child of `parent` has here, from the number that it has there. */
function findChild(parent: number, inside: number): number | undefined {
  const read = (path: string) => unlessUnseen(() => readFileSync(path, "utf8")) ?? "";
  const children = read(`/proc/${parent}/task/${parent}/children`).split(" ").filter(Boolean);
  const isIt = (pid: string) =>
    /^NSpid:\t(.+)$/m
      .exec(read(`/proc/${pid}/status`))?.[1]
      ?.split("\t")
      .at(-2) === String(inside);
  const found = children.find(isIt);
  return found === undefined ? undefined : Number(found);
}

export function notStarted(message: string): ConfinedProcess {
  const nothing = () => Readable.from([]);
  return {
    pid: undefined,
    stdin: null,
    stdout: nothing(),
    stderr: nothing(),
    exit: Promise.resolve({ kind: "failed", message }),
    signal: () => undefined,
    killAll: () => undefined,
    findFirst: async () => undefined,
    hadLeftovers: () => false,
  };
}
