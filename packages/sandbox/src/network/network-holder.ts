/** Holds a network that commands in different sandboxes share, so that one reaches the server that another has started. */
import { type ChildProcess, spawn as nodeSpawn } from "node:child_process";
import type { Readable } from "node:stream";
import { findProgram } from "../programs.ts";
import { NamespaceSockets } from "./namespace-sockets.ts";

interface NetworkHolderOptions {
  readonly bwrap: string;
  readonly workspace: string;
  readonly isRoot: boolean;
}

interface HeldNetwork {
  /** The words before a program that is to run in the network. */
  readonly enter: readonly string[];
  readonly sockets: NamespaceSockets;
}

interface Held extends HeldNetwork {
  readonly child: ChildProcess;
}

/** A process that waits at the end of a pipe of ours, and so ends with us. */
export class NetworkHolder {
  readonly #options: NetworkHolderOptions;
  #held: Promise<Held | undefined> | undefined;

  constructor(options: NetworkHolderOptions) {
    this.#options = options;
  }

  /** Undefined where networks cannot be shared. */
  async open(): Promise<HeldNetwork | undefined> {
    const held = await (this.#held ??= this.#start());
    if (!held || held.child.exitCode !== null || held.child.signalCode !== null) return undefined;
    return held;
  }

  async close(): Promise<void> {
    const held = await this.#held;
    held?.sockets.close();
    if (!held || held.child.exitCode !== null || held.child.signalCode !== null) return;
    const ended = new Promise((resolve) => held.child.once("exit", resolve));
    held.child.ref();
    held.child.stdin?.end();
    await ended;
  }

  async #start(): Promise<Held | undefined> {
    const { bwrap, workspace, isRoot } = this.#options;
    const nsenter = findProgram("nsenter", workspace);
    if (nsenter === undefined) return undefined;
    const user = isRoot ? [] : ["--unshare-user"];
    const args = [...user, "--unshare-net", "--die-with-parent", "--info-fd", "3", "--ro-bind", "/", "/", "--", "cat"];
    const child = nodeSpawn(bwrap, args, {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["pipe", "ignore", "ignore", "pipe"],
    });
    child.stdin?.on("error", () => undefined);
    const pid = await readPid(child);
    child.unref();
    for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.();
    if (pid === undefined) return undefined;
    const asUser = isRoot ? [] : ["-U", "--preserve-credentials"];
    const enter = [nsenter, ...asUser, "-n", "-t", String(pid), "--"];
    return { child, enter, sockets: new NamespaceSockets(enter, pid) };
  }
}

function readPid(child: ChildProcess): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = "";
    (child.stdio[3] as Readable).on("data", (piece: Buffer) => {
      text += piece.toString();
      const pid = /"child-pid": (\d+)/.exec(text)?.[1];
      if (pid !== undefined && text.includes("}")) resolve(Number(pid));
    });
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
  });
}
