/** The network of a session's commands: the proxy that leads out of it, and the ports that lead into it. */
import type { Clock } from "@tau/ai";
import { AskedPorts, type PortPolicy } from "./asked-ports.ts";
import type { Refusal } from "../proxy/admit.ts";
import type { SandboxSettings } from "../settings.ts";
import type { InnerSockets } from "./inner-sockets.ts";
import { listListeningPorts } from "./listening-ports.ts";
import { findLocalPorts, LocalPorts } from "./local-ports.ts";
import { openPortForwards, type PortForwards } from "./port-forwards.ts";
import { openProxyPort, type ProxyPort, type ProxyPortParts } from "./proxy-port.ts";

/** The network as one command uses it. */
export interface UsedNetwork {
  readonly env: Readonly<Record<string, string>>;
  /** The differences from what the settings ask for; reported once. */
  readonly problems: readonly string[];
  /** After the command: what the proxy refused while it ran. */
  finish(): readonly Refusal[];
  /** Ports of loopback at which a server of this machine listens, and none inside. */
  listOuterPorts(): readonly number[];
}

interface Opened {
  readonly sockets: InnerSockets;
  readonly parts: Promise<{
    proxy: ProxyPort;
    forwards: PortForwards;
    asked: AskedPorts | undefined;
    local: LocalPorts;
  }>;
  hasToldProblems: boolean;
}

/** The hosts that a program may reach besides those of the session, which change while it runs. */
export interface ProgramHosts {
  /** Called for each request. Hosts as in the setting `sandbox.network`; loopback is the session's own in any case. */
  getHosts(): readonly string[];
  /** Called with `host:port` of each request that was refused. */
  onRefused(target: string): void;
}

/** How often servers are looked for while commands run. */
const lookEveryMs = 1_000;

export class SessionNetwork {
  readonly #ports: readonly number[];
  readonly #clock: Clock;
  readonly #env: ProxyPortParts["env"];
  /** Ports inside at which the proxy listens. */
  readonly #proxies = new Set<number>();
  readonly #locals = new Set<LocalPorts>();
  #portPolicy: PortPolicy | undefined;
  #running = 0;
  #cancelLook: (() => void) | undefined;
  #allowed: readonly string[];
  #opened: Opened | undefined;

  constructor(
    { network, ports }: Pick<SandboxSettings, "network" | "ports">,
    { clock, env }: { clock: Clock; env?: ProxyPortParts["env"] },
  ) {
    this.#env = env;
    this.#ports = ports;
    this.#clock = clock;
    this.#allowed = typeof network === "string" ? [] : network.allow;
  }

  /** Decides about ports that are not in the settings. Without it, they stay closed. Must be called before the first `use`. */
  usePortPolicy(policy: PortPolicy): void {
    this.#portPolicy = policy;
  }

  /** For the rest of the session. */
  allow(hosts: readonly string[]): void {
    this.#allowed = [...this.#allowed, ...hosts];
  }

  /**
   * For one command. With `hosts` or `program`, or in a sandbox that is there for this command only, it has a port of the
   * proxy for itself. Rejects when no port can be opened.
   */
  async use(
    sockets: InnerSockets,
    { hosts, isApart, program }: { hosts: readonly string[]; isApart: boolean; program?: ProgramHosts | undefined },
  ): Promise<UsedNetwork> {
    if (hosts.length === 0 && !isApart && !program) return await this.#useShared(sockets);
    // In the network of all commands, those of the session are open already.
    const local = this.#createLocalPorts(sockets);
    const problems = await local.open(findLocalPorts(isApart ? [...this.#allowed, ...hosts] : hosts));
    const getAllowed = () => [...this.#allowed, ...hosts, ...(program?.getHosts() ?? [])];
    const notify = ({ target }: Refusal) => program?.onRefused(target);
    const proxy = await this.#openProxy(sockets, { getAllowed, notify });
    const getRefusals = proxy.watch();
    const finish = () => {
      this.#closeProxy(proxy);
      this.#closeLocalPorts(local);
      return getRefusals();
    };
    return { env: proxy.env, problems, finish, listOuterPorts: () => this.#listOuterPorts(sockets) };
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#cancelLook?.();
    await this.#closeParts(opened);
  }

  async #useShared(sockets: InnerSockets): Promise<UsedNetwork> {
    const opened = (this.#opened =
      this.#opened?.sockets === sockets ? this.#opened : this.#open(sockets, this.#opened));
    const { proxy, forwards, asked, local } = await opened.parts.catch((error: unknown) => {
      // The next command tries again.
      if (this.#opened === opened) this.#opened = undefined;
      throw error;
    });
    const problems = [
      ...(opened.hasToldProblems ? [] : forwards.problems),
      ...(await local.open(findLocalPorts(this.#allowed))),
    ];
    opened.hasToldProblems = true;
    const getRefusals = proxy.watch();
    this.#running++;
    if (asked) this.#lookLater(asked);
    let hasFinished = false;
    const finish = () => {
      if (!hasFinished) this.#running--;
      hasFinished = true;
      // The system takes milliseconds to tell the ports. Nothing listens where nothing runs.
      if (asked && (this.#running > 0 || asked.hasServers)) asked.refresh();
      return getRefusals();
    };
    const listOuterPorts = () => this.#listOuterPorts(sockets).filter((port) => !asked?.has(port));
    return { env: proxy.env, problems, finish, listOuterPorts };
  }

  #createLocalPorts(sockets: InnerSockets): LocalPorts {
    const local = new LocalPorts(sockets, (port) => this.#ports.includes(port));
    this.#locals.add(local);
    return local;
  }

  #closeLocalPorts(local: LocalPorts): void {
    local.close();
    this.#locals.delete(local);
  }

  /** Ports that lead inside are not servers of this machine. */
  #listOuterPorts(sockets: InnerSockets): readonly number[] {
    const inside = new Set([...sockets.listPorts(), ...this.#ports]);
    return listListeningPorts(process.pid, { onLoopback: true }).filter((port) => !inside.has(port));
  }

  /** While anything runs: a job may start its server at any time. */
  #lookLater(asked: AskedPorts): void {
    this.#cancelLook?.();
    this.#cancelLook = this.#clock.setTimer(lookEveryMs, () => {
      if (this.#running === 0) return;
      asked.refresh();
      this.#lookLater(asked);
    });
  }

  async #openProxy(sockets: InnerSockets, parts: Omit<ProxyPortParts, "env">): Promise<ProxyPort> {
    const proxy = await openProxyPort(sockets, { ...parts, env: this.#env });
    this.#proxies.add(proxy.port);
    return proxy;
  }

  #closeProxy(proxy: ProxyPort): void {
    proxy.close();
    this.#proxies.delete(proxy.port);
  }

  /** A sandbox that was started again has a new network, and takes the ports over. */
  #open(sockets: InnerSockets, previous: Opened | undefined): Opened {
    const open = async () => {
      await this.#closeParts(previous);
      const proxy = await this.#openProxy(sockets, { getAllowed: () => this.#allowed });
      const isOwn = (port: number) =>
        this.#proxies.has(port) || this.#ports.includes(port) || [...this.#locals].some((local) => local.has(port));
      const asked = this.#portPolicy && new AskedPorts(sockets, this.#portPolicy, isOwn);
      const local = this.#createLocalPorts(sockets);
      return { proxy, asked, local, forwards: await openPortForwards(this.#ports, sockets) };
    };
    return { sockets, parts: open(), hasToldProblems: false };
  }

  /** Parts that could not be opened need no closing; whoever asked for them knows why. */
  async #closeParts(opened: Opened | undefined): Promise<void> {
    const parts = await opened?.parts.catch(() => undefined);
    if (!parts) return;
    parts.asked?.close();
    this.#closeLocalPorts(parts.local);
    parts.forwards.close();
    this.#closeProxy(parts.proxy);
  }
}
