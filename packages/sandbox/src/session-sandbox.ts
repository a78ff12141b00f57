/** The sandbox of one session: every command runs inside, and all of them share one network. */
import { systemClock, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type CommandEnd, type CommandSandbox, type SandboxEntry, type SpawnRequest, ToolsError } from "@tau/tools";
import { BwrapCommands } from "./bwrap-commands.ts";
import { shorterPauses, toSandboxEnvironment } from "./environment.ts";
import { getTemporaryDirectories } from "./temporary-files.ts";
import { SessionFiles } from "./session-files.ts";
import { mayBeRefused } from "./refused-ports.ts";
import { HelperCommands } from "./helper-commands.ts";
import { findOutsideDirectories } from "./outside-directories.ts";
import { findRealPath, hasNoSpace } from "./look.ts";
import { describeMemoryLimits } from "./memory-limits.ts";
import { findHelper, hasTraceCapability } from "./programs.ts";
import { findObstacle, findPrograms, tryBwrap } from "./probe.ts";
import type { InnerSockets } from "./network/inner-sockets.ts";
import type { PortPolicy } from "./network/asked-ports.ts";
import type { SandboxGrant, SessionSandbox, SessionSandboxOptions } from "./port.ts";
import { type ProgramHosts, SessionNetwork, type UsedNetwork } from "./network/session-network.ts";
import { createReport } from "./report.ts";
import type { MountPlan, SandboxedCommands } from "./sandboxed-commands.ts";
import { createSeatbeltSandbox } from "./seatbelt/seatbelt-sandbox.ts";
import type { SandboxState } from "./state.ts";

/** The access of one command beyond that of the session. */
interface MoreAccess extends Pick<SandboxGrant, "hosts" | "paths"> {
  readonly program?: ProgramHosts;
}

/** Creates nothing and starts nothing until the first command. */
export function createSessionSandbox(options: SessionSandboxOptions): SessionSandbox {
  const isMac = process.platform === "darwin" && options.settings.seatbelt;
  return isMac ? createSeatbeltSandbox(options) : new LazySandbox(options);
}

class LazySandbox implements SessionSandbox {
  readonly #options: SessionSandboxOptions;
  readonly #workspace: string;
  readonly #network: SessionNetwork;
  #state: Promise<SandboxState> | undefined;
  #files: SessionFiles | undefined;
  #commands: SandboxedCommands | undefined;
  /** Sandboxes in which commands of before still run. */
  readonly #retired: SandboxedCommands[] = [];
  #grantedPaths: readonly string[] = [];
  #grantedHosts: readonly string[] = [];
  /** Whether sockets outside are looked for, because connections to them are not refused. */
  #hidesSockets = true;

  constructor(options: SessionSandboxOptions) {
    this.#options = options;
    this.#workspace = findRealPath(options.cwd) ?? options.cwd;
    this.#network = new SessionNetwork(options.settings, { clock: options.clock ?? systemClock, env: options.env });
  }

  getState(): Promise<SandboxState> {
    return (this.#state ??= this.#probe());
  }

  get granted(): SessionSandbox["granted"] {
    return { hosts: this.#grantedHosts, paths: this.#grantedPaths };
  }

  usePortPolicy(policy: PortPolicy): void {
    this.#network.usePortPolicy(policy);
  }

  enter(request: SpawnRequest): Promise<SandboxEntry | undefined> {
    return this.#enter(request, { hosts: [], paths: [] });
  }

  join(program: ProgramHosts): CommandSandbox {
    return { enter: (request) => this.#enter(request, { hosts: [], paths: [], program }) };
  }

  async widen(grant: SandboxGrant): Promise<CommandSandbox> {
    if (grant.term === "command") return { enter: (request) => this.#enter(request, grant) };
    this.#network.allow(grant.hosts);
    this.#grantedHosts = [...this.#grantedHosts, ...grant.hosts];
    if (grant.paths.length === 0) return this;
    this.#grantedPaths = [...this.#grantedPaths, ...grant.paths];
    // What is mounted read-only in a running sandbox cannot be opened there. Its jobs continue.
    if (this.#commands?.isFixed) {
      this.#retired.push(this.#commands);
      this.#commands = undefined;
    }
    return this;
  }

  async #enter(request: SpawnRequest, more: MoreAccess): Promise<SandboxEntry | undefined> {
    const { settings, isReadOnly = false } = this.#options;
    const { mode } = settings;
    const state = await this.getState();
    if (state.kind === "off" || (state.kind === "unavailable" && mode !== "required")) return undefined;
    if (state.kind === "unavailable") throw refuse(`${state.reason} ${state.fix}`);
    const files = (this.#files ??= this.#openFiles());
    const plan = files.begin([...this.#grantedPaths, ...more.paths]);
    let apart: SandboxedCommands | undefined;
    let network: UsedNetwork | undefined;
    try {
      const shared = (this.#commands ??= this.#createCommands(state, files));
      if (more.paths.length > 0 && shared.isFixed) apart = this.#createCommands(state, files);
      const createRequest = async (sockets: InnerSockets | undefined) => {
        network?.finish();
        const { hosts, program } = more;
        network = sockets && (await this.#network.use(sockets, { hosts, program, isApart: apart !== undefined }));
        const caches = files.getCacheVariables(request);
        const env = toSandboxEnvironment(request.env, caches);
        // The workspace is mounted at its real path. A link to it in the temporary directory is not there inside.
        const cwd = findRealPath(request.cwd) ?? request.cwd;
        return { ...request, cwd, env: network ? { ...shorterPauses, ...env, ...network.env } : env };
      };
      const way = await (apart ?? shared).enter(createRequest, plan);
      const finish = async (end?: CommandEnd) => {
        if (!end) files.cancel();
        const notices = [...(network?.problems ?? []), ...(end ? files.finish() : [])];
        // Before it is closed: what was open for this command alone counts as inside.
        const findOuterPorts = network?.listOuterPorts;
        const outerPorts = end?.hasFailed && mayBeRefused(end.output) ? (findOuterPorts?.() ?? []) : [];
        const refusals = network?.finish() ?? [];
        await apart?.close();
        const memory = end ? this.#describeMemory(end, request.cwd, plan) : [];
        const all = [...notices, ...memory];
        return createReport(all, {
          end,
          mode,
          isReadOnly,
          refusals,
          outerPorts,
          cwd: request.cwd,
          mounts: plan.mounts,
        });
      };
      return { ...way, finish };
    } catch (error) {
      files.cancel();
      network?.finish();
      await apart?.close();
      if (state.with === "bwrap") throw refuse(`The sandbox could not be started: ${getErrorMessage(error)}`);
      // Not outside: in a sandbox for each command.
      this.#state = Promise.resolve({ ...state, with: "bwrap", guardsSockets: false });
      this.#hidesSockets = true;
      if (this.#commands) this.#retired.push(this.#commands);
      this.#commands = undefined;
      return await this.#enter(request, more);
    }
  }

  #describeMemory({ output }: CommandEnd, cwd: string, { mounts }: MountPlan): string[] {
    const { maxMemoryMb, maxMemoryFilesMb } = this.#options.settings;
    const temporary = this.#files?.place.temporary ?? cwd;
    const isDiskFull = () => [cwd, temporary].some(hasNoSpace);
    return describeMemoryLimits({ output, cwd, mounts, isDiskFull }, { maxMemoryMb, maxMemoryFilesMb });
  }

  async findTemporary(): Promise<string | undefined> {
    const { kind } = await this.getState();
    return kind === "works" ? (this.#files ??= this.#openFiles()).place.temporary : undefined;
  }

  async close(): Promise<void> {
    await this.#network.close();
    for (const commands of [this.#commands, ...this.#retired.splice(0)]) await commands?.close();
    await this.#files?.close();
    this.#commands = undefined;
    this.#files = undefined;
  }

  async #probe(): Promise<SandboxState> {
    const { settings } = this.#options;
    if (settings.mode === "off") return { kind: "off" };
    const obstacle = findObstacle(this.#workspace, process.platform, process.arch);
    if (obstacle) return obstacle;
    const programs = this.#findPrograms();
    if ("kind" in programs) return programs;
    const state = await tryBwrap(programs, settings);
    this.#hidesSockets = state.kind !== "works" || !state.guardsSockets;
    return state;
  }

  #findOutside() {
    const programs = this.#findPrograms();
    const helper = "bwrap" in programs ? programs.helper : undefined;
    const needed = [process.execPath, ...(helper === undefined ? [] : [helper])];
    return { directories: findOutsideDirectories(this.#workspace), needed };
  }

  #findPrograms() {
    const { helper = findHelper() } = this.#options;
    const programs = findPrograms(this.#workspace);
    return "bwrap" in programs ? { ...programs, helper: helper === false ? undefined : helper } : programs;
  }

  #openFiles(): SessionFiles {
    const { home, agentDir, named = [], readable = [], isReadOnly = false } = this.#options;
    const { clock = systemClock, ids = systemIds, hidesMachine = false } = this.#options;
    const allowedPaths = this.#options.settings.allowedPaths.flatMap((path) => findRealPath(path) ?? []);
    const settings = { ...this.#options.settings, allowedPaths };
    const real = (path: string) => findRealPath(path) ?? path;
    const place = { workspace: this.#workspace, home: real(home), agentDir: real(agentDir), named, readable };
    const { temporaryDirectories = getTemporaryDirectories() } = this.#options;
    const hidesSockets = () => this.#hidesSockets;
    const outside = hidesMachine ? this.#findOutside() : undefined;
    return new SessionFiles({
      settings,
      ...place,
      outside,
      temporaryDirectories,
      hidesSockets,
      isReadOnly,
      clock,
      ids,
    });
  }

  #createCommands(state: SandboxState & { kind: "works" }, { system, place }: SessionFiles): SandboxedCommands {
    const programs = this.#findPrograms();
    if (!("bwrap" in programs)) throw refuse(programs.reason);
    const { bwrap, helper } = programs;
    const { network, maxMemoryFilesMb } = this.#options.settings;
    const { machineWide } = system;
    const memoryFilesBytes = state.limitsMemoryFiles ? maxMemoryFilesMb * 1024 * 1024 : undefined;
    const isRoot = process.getuid?.() === 0;
    const mayTrace = !isRoot || hasTraceCapability();
    const parts = { bwrap, workspace: this.#workspace, network, machineWide, isRoot, mayTrace, memoryFilesBytes };
    if (state.with === "bwrap" || helper === undefined) return new BwrapCommands(parts);
    const ownDirectories = state.guardsSockets ? [place.workspace, place.cache] : undefined;
    return new HelperCommands({ ...parts, helper, ownDirectories });
  }
}

const refuse = (reason: string): ToolsError => new ToolsError("unavailable", reason);
