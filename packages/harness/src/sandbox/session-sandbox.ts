/** The sandbox of one session: every command runs inside, and all of them share one network. */
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type CommandSandbox, type SandboxEntry, type SpawnRequest, ToolsError } from "@tau/tools";
import { BwrapCommands } from "./bwrap-commands.ts";
import { toSandboxEnvironment } from "./environment.ts";
import { getTemporaryDirectories } from "./facts.ts";
import { SandboxGround } from "./ground.ts";
import { HelperCommands } from "./helper-commands.ts";
import { findRealPath } from "./look.ts";
import { findHelper } from "./programs.ts";
import { findObstacle, findPrograms, tryBwrap } from "./probe.ts";
import { CommandNetwork } from "./network/command-network.ts";
import type { InnerSockets } from "./network/inner-sockets.ts";
import { createReport } from "./report.ts";
import type { SandboxedCommands } from "./sandboxed-commands.ts";
import type { SandboxSettings } from "./settings.ts";
import type { SandboxState } from "./state.ts";

export interface SessionSandboxOptions {
  /** The workspace. */
  readonly cwd: string;
  readonly settings: SandboxSettings;
  readonly home: string;
  /** Our own directory. Commands cannot read it, except for `readable`. */
  readonly agentDir: string;
  /** Default: none. */
  readonly readable?: readonly string[];
  /** Directories in whose place commands see their own temporary files. Default: those of the system. */
  readonly temporaryDirectories?: readonly string[];
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** The program that starts the commands of a session; false for none. Default: the one that is installed, if any. */
  readonly helper?: string | false;
}

export interface SessionSandbox extends CommandSandbox {
  /** Whether commands run inside. Starts no sandbox, but tries once whether one can be started. */
  getState(): Promise<SandboxState>;
  /** Ends everything that runs inside. */
  close(): Promise<void>;
}

/** Creates nothing and starts nothing until the first command. */
export function createSessionSandbox(options: SessionSandboxOptions): SessionSandbox {
  return new LazySandbox(options);
}

class LazySandbox implements SessionSandbox {
  readonly #options: SessionSandboxOptions;
  readonly #workspace: string;
  #state: Promise<SandboxState> | undefined;
  #ground: SandboxGround | undefined;
  #commands: SandboxedCommands | undefined;
  #network: Promise<CommandNetwork> | undefined;

  constructor(options: SessionSandboxOptions) {
    this.#options = options;
    this.#workspace = findRealPath(options.cwd) ?? options.cwd;
  }

  getState(): Promise<SandboxState> {
    return (this.#state ??= this.#probe());
  }

  async enter(request: SpawnRequest): Promise<SandboxEntry | undefined> {
    const { mode } = this.#options.settings;
    const state = await this.getState();
    if (state.kind === "off" || (state.kind === "unavailable" && mode !== "required")) return undefined;
    if (state.kind === "unavailable") throw refuse(`${state.reason} ${state.fix}`);
    const ground = (this.#ground ??= this.#openGround());
    const mounts = ground.begin();
    try {
      const commands = this.#getCommands(state.with, ground);
      const network = await this.#openNetwork(await commands.prepare(mounts));
      const env = { ...toSandboxEnvironment(request.env, ground.place.cache), ...network?.proxy.env };
      const way = await commands.enter({ ...request, env }, mounts);
      const getRefusals = network?.proxy.watch() ?? (() => []);
      const problems = network?.takeProblems() ?? [];
      const { cwd } = request;
      return {
        ...way,
        finish: async (end) =>
          createReport([...problems, ...ground.finish()], end, { refusals: getRefusals(), cwd, mounts }),
      };
    } catch (error) {
      ground.finish();
      if (state.with === "bwrap") throw refuse(`The sandbox could not be started: ${getErrorMessage(error)}`);
      // Not outside: in a sandbox for each command.
      this.#state = Promise.resolve({ kind: "works", with: "bwrap" });
      this.#commands = undefined;
      return await this.enter(request);
    }
  }

  async close(): Promise<void> {
    (await this.#network?.catch(() => undefined))?.close();
    this.#network = undefined;
    await this.#commands?.close();
    await this.#ground?.close();
    this.#commands = undefined;
    this.#ground = undefined;
  }

  /** A sandbox that was started again has a new network. */
  async #openNetwork(sockets: InnerSockets | undefined): Promise<CommandNetwork | undefined> {
    const opened = await this.#network?.catch(() => undefined);
    if (!sockets || opened?.sockets === sockets) return opened;
    opened?.close();
    const { settings } = this.#options;
    const allowed = typeof settings.network === "string" ? [] : settings.network.allow;
    return await (this.#network = CommandNetwork.open(sockets, settings, () => allowed));
  }

  async #probe(): Promise<SandboxState> {
    const { settings } = this.#options;
    if (settings.mode === "off") return { kind: "off" };
    const obstacle = findObstacle(this.#workspace, process.platform, process.arch);
    if (obstacle) return obstacle;
    const programs = this.#findPrograms();
    return "kind" in programs ? programs : await tryBwrap(programs, settings);
  }

  #findPrograms() {
    const { helper = findHelper() } = this.#options;
    const programs = findPrograms(this.#workspace);
    return "bwrap" in programs ? { ...programs, helper: helper === false ? undefined : helper } : programs;
  }

  #openGround(): SandboxGround {
    const { home, agentDir, readable = [], clock = systemClock, ids = systemIds } = this.#options;
    const allowedPaths = this.#options.settings.allowedPaths.flatMap((path) => findRealPath(path) ?? []);
    const settings = { ...this.#options.settings, allowedPaths };
    const real = (path: string) => findRealPath(path) ?? path;
    const place = { workspace: this.#workspace, home: real(home), agentDir: real(agentDir), readable };
    const { temporaryDirectories = getTemporaryDirectories() } = this.#options;
    return new SandboxGround({ settings, ...place, temporaryDirectories, clock, ids });
  }

  #getCommands(how: "helper" | "bwrap", { system }: SandboxGround): SandboxedCommands {
    if (this.#commands) return this.#commands;
    const programs = this.#findPrograms();
    if (!("bwrap" in programs)) throw refuse(programs.reason);
    const { bwrap, helper } = programs;
    const { network } = this.#options.settings;
    const { machineWide } = system;
    const parts = { bwrap, workspace: this.#workspace, network, machineWide, isRoot: process.getuid?.() === 0 };
    const canShare = how === "helper" && helper !== undefined;
    return (this.#commands = canShare ? new HelperCommands({ ...parts, helper }) : new BwrapCommands(parts));
  }
}

const refuse = (reason: string): ToolsError => new ToolsError("unavailable", reason);
