/** The sandbox of one session: every command runs inside, and all of them share one network. */
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type CommandSandbox, type SandboxEntry, type SpawnRequest, ToolsError } from "@tau/tools";
import { BwrapCommands } from "./bwrap-commands.ts";
import { toSandboxEnvironment } from "./environment.ts";
import { getTemporaryDirectories } from "./temporary-files.ts";
import { SandboxGround } from "./ground.ts";
import { HelperCommands } from "./helper-commands.ts";
import { findRealPath } from "./look.ts";
import { findHelper } from "./programs.ts";
import { findObstacle, findPrograms, tryBwrap } from "./probe.ts";
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
  /** What commands see as the directories for temporary files; undefined where they run outside. */
  findTemporary(): Promise<string | undefined>;
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
    const inside = { ...request, env: toSandboxEnvironment(request.env, ground.place.cache) };
    const mounts = ground.begin();
    try {
      const way = await this.#getCommands(state.with, ground).enter(inside, mounts);
      return { ...way, finish: async () => ground.finish() };
    } catch (error) {
      ground.finish();
      if (state.with === "bwrap") throw refuse(`The sandbox could not be started: ${getErrorMessage(error)}`);
      // Not outside: in a sandbox for each command.
      this.#state = Promise.resolve({ kind: "works", with: "bwrap" });
      this.#commands = undefined;
      return await this.enter(request);
    }
  }

  async findTemporary(): Promise<string | undefined> {
    const { kind } = await this.getState();
    return kind === "works" ? (this.#ground ??= this.#openGround()).place.temporary : undefined;
  }

  async close(): Promise<void> {
    await this.#commands?.close();
    await this.#ground?.close();
    this.#commands = undefined;
    this.#ground = undefined;
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
