/** The network of a session's commands: the proxy that leads out of it, and the ports that lead into it. */
import type { Refusal } from "../proxy/admit.ts";
import type { SandboxSettings } from "../settings.ts";
import type { InnerSockets } from "./inner-sockets.ts";
import { openPortForwards, type PortForwards } from "./port-forwards.ts";
import { openProxyPort, type ProxyPort } from "./proxy-port.ts";

/** The network as one command uses it. */
export interface UsedNetwork {
  readonly env: Readonly<Record<string, string>>;
  /** What is not as the settings ask for; told once. */
  readonly problems: readonly string[];
  /** After the command: what the proxy refused while it ran. */
  finish(): readonly Refusal[];
}

interface Opened {
  readonly sockets: InnerSockets;
  readonly parts: Promise<{ proxy: ProxyPort; forwards: PortForwards }>;
  hasToldProblems: boolean;
}

export class SessionNetwork {
  readonly #ports: readonly number[];
  #allowed: readonly string[];
  #opened: Opened | undefined;

  constructor({ network, ports }: Pick<SandboxSettings, "network" | "ports">) {
    this.#ports = ports;
    this.#allowed = typeof network === "string" ? [] : network.allow;
  }

  /** For the rest of the session. */
  allow(hosts: readonly string[]): void {
    this.#allowed = [...this.#allowed, ...hosts];
  }

  /**
   * For one command. With `hosts`, or in a sandbox that is there for this command only, it has a port of the proxy for
   * itself. Rejects when no port can be opened.
   */
  async use(
    sockets: InnerSockets,
    { hosts, isApart }: { hosts: readonly string[]; isApart: boolean },
  ): Promise<UsedNetwork> {
    if (hosts.length === 0 && !isApart) return await this.#useShared(sockets);
    const proxy = await openProxyPort(sockets, () => [...this.#allowed, ...hosts]);
    const getRefusals = proxy.watch();
    const finish = () => {
      proxy.close();
      return getRefusals();
    };
    return { env: proxy.env, problems: [], finish };
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await closeParts(opened);
  }

  async #useShared(sockets: InnerSockets): Promise<UsedNetwork> {
    const opened = (this.#opened =
      this.#opened?.sockets === sockets ? this.#opened : this.#open(sockets, this.#opened));
    const { proxy, forwards } = await opened.parts.catch((error: unknown) => {
      // The next command tries again.
      if (this.#opened === opened) this.#opened = undefined;
      throw error;
    });
    const problems = opened.hasToldProblems ? [] : forwards.problems;
    opened.hasToldProblems = true;
    return { env: proxy.env, problems, finish: proxy.watch() };
  }

  /** A sandbox that was started again has a new network, and takes the ports over. */
  #open(sockets: InnerSockets, previous: Opened | undefined): Opened {
    const open = async () => {
      await closeParts(previous);
      const proxy = await openProxyPort(sockets, () => this.#allowed);
      return { proxy, forwards: await openPortForwards(this.#ports, sockets) };
    };
    return { sockets, parts: open(), hasToldProblems: false };
  }
}

/** Parts that could not be opened need no closing; whoever asked for them knows why. */
async function closeParts(opened: Opened | undefined): Promise<void> {
  const parts = await opened?.parts.catch(() => undefined);
  parts?.forwards.close();
  parts?.proxy.close();
}
