/** The network of a session's commands: the proxy that leads out of it, and the ports that lead into it. */
import type { SandboxSettings } from "../settings.ts";
import type { InnerSockets } from "./inner-sockets.ts";
import { openPortForwards, type PortForwards } from "./port-forwards.ts";
import { openProxyPort, type ProxyPort } from "./proxy-port.ts";

export class CommandNetwork {
  readonly sockets: InnerSockets;
  /** For every command that has no port of its own. */
  readonly proxy: ProxyPort;
  readonly #getAllowed: () => readonly string[];
  readonly #forwards: PortForwards;
  #problems: readonly string[];

  private constructor(sockets: InnerSockets, getAllowed: () => readonly string[], opened: [ProxyPort, PortForwards]) {
    this.sockets = sockets;
    this.#getAllowed = getAllowed;
    [this.proxy, this.#forwards] = opened;
    this.#problems = this.#forwards.problems;
  }

  /** `getAllowed`: the hosts that commands may connect to, for each request. Rejects when there is no proxy. */
  static async open(
    sockets: InnerSockets,
    { ports }: Pick<SandboxSettings, "ports">,
    getAllowed: () => readonly string[],
  ): Promise<CommandNetwork> {
    const proxy = await openProxyPort(sockets, getAllowed);
    return new CommandNetwork(sockets, getAllowed, [proxy, await openPortForwards(ports, sockets)]);
  }

  /** A port for one command that may connect to more hosts. The caller must close it. */
  openWider(hosts: readonly string[]): Promise<ProxyPort> {
    return openProxyPort(this.sockets, () => [...this.#getAllowed(), ...hosts]);
  }

  /** What was not possible, told once. */
  takeProblems(): readonly string[] {
    const problems = this.#problems;
    this.#problems = [];
    return problems;
  }

  close(): void {
    this.#forwards.close();
    this.proxy.close();
  }
}
