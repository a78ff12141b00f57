/**
 * The sandbox of a session on macOS: each command is started by `sandbox-exec`. There is one network for all programs of the
 * machine, and no namespace of processes: a command reaches only the proxy's port, and ends with its process group.
 */
import { mkdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { type Clock, systemClock } from "@tau/ai";
import {
  type CommandEnd,
  type CommandSandbox,
  type ConfinedProcess,
  createSpawn,
  type RunningProcess,
  type SandboxEntry,
  type SandboxReport,
  type SpawnRequest,
  ToolsError,
} from "@tau/tools";
import { isWithin } from "@tau/tools/platform";
import { shorterPauses, toSandboxEnvironment } from "../environment.ts";
import { findHiddenPaths } from "../hidden-paths.ts";
import { findRealPath, lookAtPath } from "../look.ts";
import { type Mount, planMounts } from "../mounts.ts";
import { findLocalPorts } from "../network/local-ports.ts";
import { openProxyPort, type ProxyPort } from "../network/proxy-port.ts";
import type { ProgramHosts } from "../network/session-network.ts";
import { getCacheDirectory, getCacheVariables } from "../package-caches.ts";
import { protectedGitNames, protectedHomeNames, protectedNames } from "../protected-names.ts";
import { createReport } from "../report.ts";
import type { SandboxGrant, SessionSandbox, SessionSandboxOptions } from "../port.ts";
import type { SandboxState } from "../state.ts";
import {
  createTemporaryDirectory,
  removeAbandonedDirectories,
  type TemporaryDirectory,
} from "../temporary-directory.ts";
import { getTemporaryDirectories } from "../temporary-files.ts";
import { toArguments } from "./arguments.ts";
import { createSeatbeltProfile, type ProtectedRoot, type SeatbeltAccess } from "./profile.ts";
import { seatbeltProgram, trySeatbelt } from "./trial.ts";

type MoreAccess = Pick<SandboxGrant, "hosts" | "paths"> & { readonly program?: ProgramHosts };

const nothingMore: MoreAccess = { hosts: [], paths: [] };

/** The proxy of a command. `finish` ends what was opened for this command alone. */
interface UsedProxy {
  readonly proxy: ProxyPort;
  readonly getRefusals: ReturnType<ProxyPort["watch"]>;
  finish(): void;
}

/** `program`: another one than that of macOS. */
export function createSeatbeltSandbox(options: SessionSandboxOptions, program = seatbeltProgram): SessionSandbox {
  return new SeatbeltSandbox(options, program);
}

class SeatbeltSandbox implements SessionSandbox {
  readonly #options: SessionSandboxOptions;
  readonly #program: string;
  readonly #workspace: string;
  readonly #clock: Clock;
  readonly #spawn = createSpawn();
  #state: Promise<SandboxState> | undefined;
  #temporary: TemporaryDirectory | undefined;
  #sharedProxy: Promise<ProxyPort> | undefined;
  #grantedHosts: readonly string[] = [];
  #grantedPaths: readonly string[] = [];

  constructor(options: SessionSandboxOptions, program: string) {
    this.#options = options;
    this.#program = program;
    this.#workspace = findRealPath(options.cwd) ?? options.cwd;
    this.#clock = options.clock ?? systemClock;
  }

  get granted(): SessionSandbox["granted"] {
    return { hosts: this.#grantedHosts, paths: this.#grantedPaths };
  }

  /** Servers of commands listen at the ports of this machine: nothing has to lead to them. */
  usePortPolicy(): void {}

  getState(): Promise<SandboxState> {
    return (this.#state ??= this.#probe());
  }

  enter(request: SpawnRequest): Promise<SandboxEntry | undefined> {
    return this.#enter(request, nothingMore);
  }

  join(program: ProgramHosts): CommandSandbox {
    return { enter: (request) => this.#enter(request, { ...nothingMore, program }) };
  }

  async widen(grant: SandboxGrant): Promise<CommandSandbox> {
    if (grant.term === "command") return { enter: (request) => this.#enter(request, grant) };
    this.#grantedHosts = [...this.#grantedHosts, ...grant.hosts];
    this.#grantedPaths = [...this.#grantedPaths, ...grant.paths];
    return this;
  }

  async findTemporary(): Promise<string | undefined> {
    return (await this.getState()).kind === "works" ? this.#getTemporary() : undefined;
  }

  async close(): Promise<void> {
    (await this.#sharedProxy?.catch(() => undefined))?.close();
    await this.#temporary?.remove();
    this.#sharedProxy = this.#temporary = undefined;
  }

  async #probe(): Promise<SandboxState> {
    const { settings, hidesMachine = false } = this.#options;
    if (settings.mode === "off") return { kind: "off" };
    if (hidesMachine) {
      return {
        kind: "unavailable",
        reason: "The sandbox of macOS cannot hide the rest of the machine from a session for somebody else.",
        fix: "Run such sessions on Linux.",
      };
    }
    return await trySeatbelt(this.#program);
  }

  async #enter(request: SpawnRequest, more: MoreAccess): Promise<SandboxEntry | undefined> {
    const state = await this.getState();
    const { mode } = this.#options.settings;
    if (state.kind === "off" || (state.kind === "unavailable" && mode !== "required")) return undefined;
    if (state.kind === "unavailable") throw new ToolsError("unavailable", `${state.reason} ${state.fix}`);
    const network = await this.#openProxy(more);
    const mounts = this.#planMounts([...this.#grantedPaths, ...more.paths]);
    const finish = async (end?: CommandEnd) => {
      const refusals = network?.getRefusals() ?? [];
      network?.finish();
      return this.#report(end, { refusals, mounts, cwd: request.cwd });
    };
    return { start: () => this.#start(request, { mounts, network, more }), finish };
  }

  async #start(
    request: SpawnRequest,
    { mounts, network, more }: { mounts: readonly Mount[]; network: UsedProxy | undefined; more: MoreAccess },
  ): Promise<ConfinedProcess> {
    const { settings, agentDir } = this.#options;
    const temporary = this.#getTemporary();
    const access: SeatbeltAccess = {
      mounts,
      temporary,
      protected: this.#protect([this.#workspace, ...settings.allowedPaths, ...this.#grantedPaths, ...more.paths]),
      network: network
        ? {
            ports: [network.proxy.port, ...settings.ports, ...findLocalPorts(this.#listHosts(more))],
            reachesHosts: this.#listHosts(more).length > 0,
          }
        : "all",
    };
    const mayRunPnpm = lookAtPath(`${this.#workspace}/pnpm-lock.yaml`) !== undefined;
    const caches = getCacheVariables(getCacheDirectory(agentDir, this.#workspace), { mayRunPnpm });
    const env = { ...toSandboxEnvironment(request.env, caches), TMPDIR: temporary };
    const child = await this.#spawn({
      ...request,
      argv: [this.#program, ...toArguments(createSeatbeltProfile(access)), ...request.argv],
      cwd: findRealPath(request.cwd) ?? request.cwd,
      env: network ? { ...shorterPauses, ...env, ...network.proxy.env } : env,
      detached: true,
    });
    return toConfined(child);
  }

  #planMounts(granted: readonly string[]): readonly Mount[] {
    const { settings, home, agentDir, named = [], readable = [], isReadOnly = false } = this.#options;
    const cache = getCacheDirectory(agentDir, this.#workspace);
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    const real = (paths: readonly string[]) => [...new Set(paths.flatMap((path) => findRealPath(path) ?? []))];
    const temporaryDirectories = real(this.#options.temporaryDirectories ?? getTemporaryDirectories());
    const hidden = findHiddenPaths({
      home,
      agentDir,
      named,
      replaced: temporaryDirectories,
      workspace: this.#workspace,
      hidesSockets: false,
    }).paths;
    const facts = {
      workspace: this.#workspace,
      gitDirectories: [],
      protected: [],
      pinned: [],
      hidden,
      watched: [],
      temporary: this.#getTemporary(),
      cache: findRealPath(cache) ?? cache,
      needed: real(readable).filter((path) => !isWithin(path, agentDir)),
      runDirectories: [],
      temporaryDirectories,
      machineWide: [],
    };
    const allowedPaths = real([...settings.allowedPaths, ...granted]);
    return planMounts({ ...settings, allowedPaths }, facts, { isReadOnly });
  }

  #protect(directories: readonly string[]): ProtectedRoot[] {
    const home = findRealPath(this.#options.home) ?? this.#options.home;
    return [...new Set(directories.flatMap((path) => findRealPath(path) ?? []))].map((root) => {
      const atHome = isWithin(root, home) ? protectedHomeNames.map((name) => `${home}/${name}`) : [];
      const inHome = atHome.map((path) => path.slice(root.length).replace(/^\/+/, ""));
      const isWorktree = lookAtPath(`${root}/.git`)?.isFile() === true;
      const names = [...protectedNames, ...(isWorktree ? [".git"] : protectedGitNames), ...inHome];
      const parents = [...new Set(names.flatMap(listParents))];
      return {
        root: root === "/" ? "" : root,
        names,
        parents: parents.map((name) => ({ name, exists: lookAtPath(`${root}/${name}`) !== undefined })),
      };
    });
  }

  #getTemporary(): string {
    if (!this.#temporary) {
      this.#temporary = createTemporaryDirectory();
      // Nobody waits for it, and a directory that cannot be removed harms nobody.
      removeAbandonedDirectories(this.#clock).catch(() => undefined);
    }
    return this.#temporary.getPath();
  }

  #listHosts({ hosts, program }: MoreAccess): readonly string[] {
    const { network } = this.#options.settings;
    const allowed = typeof network === "string" ? [] : network.allow;
    return [...allowed, ...this.#grantedHosts, ...hosts, ...(program?.getHosts() ?? [])];
  }

  /** Undefined where commands have the network of the machine. A command that may reach more has a proxy of its own. */
  async #openProxy(more: MoreAccess): Promise<UsedProxy | undefined> {
    if (this.#options.settings.network === "all") return undefined;
    const isOwn = more.hosts.length > 0 || more.program !== undefined;
    const open = (access: MoreAccess) =>
      openProxyPort(machineSockets, {
        getAllowed: () => this.#listHosts(access),
        notify: ({ target }) => access.program?.onRefused(target),
        env: this.#options.env,
      });
    const proxy = await (isOwn ? open(more) : (this.#sharedProxy ??= open(nothingMore)));
    return { proxy, getRefusals: proxy.watch(), finish: () => (isOwn ? proxy.close() : undefined) };
  }

  #report(
    end: CommandEnd | undefined,
    command: Pick<Parameters<typeof createReport>[1], "refusals" | "mounts" | "cwd">,
  ): SandboxReport {
    // Linux calls it read-only what macOS does not permit.
    const output = end?.output.replaceAll("Operation not permitted", "Read-only file system") ?? "";
    const { settings, isReadOnly = false } = this.#options;
    return createReport([], {
      ...command,
      end: end && { ...end, output },
      mode: settings.mode,
      isReadOnly,
      outerPorts: [],
    });
  }
}

/** The directories on the way to a name. Pure. */
function listParents(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** The proxy listens where commands look for it: at loopback of the machine. */
const machineSockets = {
  listen: (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const server = createServer();
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => resolve(server));
    }),
};

function toConfined(child: RunningProcess): ConfinedProcess {
  let hadLeftovers = false;
  const exit = child.exit.then((status) => {
    hadLeftovers = isGroupLeft(child.pid);
    if (hadLeftovers) child.signal("SIGKILL", "group");
    return status;
  });
  return {
    ...child,
    exit,
    signal: (name) => child.signal(name, "group"),
    killAll: () => child.signal("SIGKILL", "group"),
    findFirst: async () => child.pid,
    hadLeftovers: () => hadLeftovers,
  };
}

function isGroupLeft(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}
