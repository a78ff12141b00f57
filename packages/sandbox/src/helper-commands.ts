/** Commands in one sandbox for the whole session, which is started with the first of them. */
import { constants } from "node:os";
import { getErrorMessage } from "@tau/ai/internal";
import { type ConfinedLimits, ToolsError } from "@tau/tools";
import { isWithin } from "@tau/tools/platform";
import { type Helper, notStarted, openHelper } from "./helper.ts";
import { lookAtPath } from "./look.ts";
import type { InnerSockets } from "./network/inner-sockets.ts";
import { isMountMissing, maxRenewals, withoutVanished } from "./missing-mounts.ts";
import { getCapabilityMask, listSocketDirectories, type Mount, toBwrapArguments } from "./mounts.ts";
import type { BwrapParts, CreateRequest, EntryWay, MountPlan, SandboxedCommands } from "./sandboxed-commands.ts";
import { createSystemCallFilter } from "./system-calls.ts";

interface Opened {
  readonly helper: Helper;
  /** The mounts, in words that distinguish two of them. */
  readonly mounted: Set<string>;
}

interface HelperParts extends BwrapParts {
  readonly helper: string;
  /** The workspace and other directories that belong to this sandbox. Undefined: connections to sockets are not checked. */
  readonly ownDirectories: readonly string[] | undefined;
}

export class HelperCommands implements SandboxedCommands {
  readonly isFixed = true;
  readonly #parts: HelperParts;
  #opened: Promise<Opened> | undefined;
  /** Sandboxes of before, in which jobs still run. */
  readonly #retired: Helper[] = [];

  constructor(parts: HelperParts) {
    this.#parts = parts;
  }

  async enter(createRequest: CreateRequest, plan: MountPlan): Promise<EntryWay> {
    const helper = await this.#prepare(plan);
    const request = await createRequest(this.#getSockets(helper));
    const start = async (limits: ConfinedLimits) => {
      const process = await helper.start(request, limits);
      if (process) return process;
      await helper.close();
      const next = await this.#prepare(plan);
      // Its network is another one.
      const again = await createRequest(this.#getSockets(next));
      return (await next.start(again, limits)) ?? notStarted("The sandbox was ended from outside.");
    };
    return { start };
  }

  #getSockets({ sockets }: Helper): InnerSockets | undefined {
    return this.#parts.network === "all" ? undefined : sockets;
  }

  /** The sandbox with everything mounted that these mounts ask for. */
  async #prepare(plan: MountPlan): Promise<Helper> {
    const { helper, mounted } = await this.#open(plan);
    for (const mount of plan.mounts) {
      const key = getKey(mount);
      if (mounted.has(key)) continue;
      await addMount(helper, mount);
      mounted.add(key);
    }
    return helper;
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    for (const helper of [opened?.helper, ...this.#retired.splice(0)]) await helper?.close();
  }

  /** Commands that come at the same time wait for the same sandbox. */
  #open(plan: MountPlan): Promise<Opened> {
    return (this.#opened = this.#reopen(this.#opened, plan));
  }

  /** A sandbox that was ended from outside is started again, and so is one of a workspace that is another directory now. */
  async #reopen(current: Promise<Opened> | undefined, plan: MountPlan): Promise<Opened> {
    const opened = await current?.catch(() => undefined);
    if (!opened || opened.helper.isOver()) return await this.#startUntilStill(plan);
    if (!hasNewRoot(plan.mounts, opened.mounted)) return opened;
    this.#retired.push(opened.helper);
    return await this.#startUntilStill(plan);
  }

  async #startUntilStill(plan: MountPlan): Promise<Opened> {
    for (let renewals = 0; ; renewals++) {
      try {
        return await this.#start(withoutVanished(plan.mounts));
      } catch (error) {
        if (renewals === maxRenewals || !isMountMissing(getErrorMessage(error))) throw error;
        plan.renew();
      }
    }
  }

  async #start(mounts: readonly Mount[]): Promise<Opened> {
    const { bwrap, helper: program, isRoot, ownDirectories } = this.#parts;
    const needed: Mount = { kind: "read-only", path: program };
    const helper = await openHelper({
      bwrap,
      helper: program,
      arguments: toBwrapArguments({
        ...this.#parts,
        mounts: [...mounts, needed],
        forHelper: true,
        filterDescriptor: 4,
      }),
      filter: createSystemCallFilter(process.arch, { isRoot }),
      capabilities: getCapabilityMask(isRoot),
      socketDirectories: ownDirectories && listSocketDirectories(mounts, ownDirectories),
    });
    const made = mounts.filter(({ kind }) => kind !== "fixed");
    return { helper, mounted: new Set(made.map(getKey)) };
  }
}

/** Finds what is shown at the path of a mount, outside. */
const getSource = (mount: Mount): string => (mount.kind === "writable" ? (mount.from ?? mount.path) : mount.path);

/**
 * A file that is replaced outside loses what was mounted on it, so the new one needs a mount of its own. It may get the
 * number of the old one, but not its time of birth.
 */
function getKey(mount: Mount): string {
  const source = getSource(mount);
  const stats = lookAtPath(source);
  const key = `${mount.kind} ${mount.path} ${source} ${stats?.ino} ${stats?.birthtimeMs}`;
  // What has changed in it is shown to the next command.
  return mount.kind === "fixed" ? `${key} ${stats?.ctimeMs}` : key;
}

/**
 * Whether a directory that commands may change is another one than is mounted. In a running sandbox everything around it is
 * read-only, so it cannot be opened there.
 */
function hasNewRoot(mounts: readonly Mount[], mounted: ReadonlySet<string>): boolean {
  const shared = mounts.filter((mount) => mount.kind === "writable" && mount.from === undefined);
  const isRoot = ({ path }: Mount) => !shared.some((other) => other.path !== path && isWithin(other.path, path));
  return mounts.some(
    (mount) =>
      mount.kind === "writable" && isRoot(mount) && !mounted.has(getKey(mount)) && lookAtPath(getSource(mount)),
  );
}

/** Errors of a path that has vanished meanwhile, and needs no protection. */
const harmless: ReadonlySet<number> = new Set([0, constants.errno.ENOENT, constants.errno.ENOTDIR]);
/** A directory with very many names, or one that we may not list, stays as it is. */
const harmlessForFixed: ReadonlySet<number> = new Set([...harmless, constants.errno.E2BIG, constants.errno.EACCES]);

async function addMount(helper: Helper, { kind, path }: Mount): Promise<void> {
  // Directories that are replaced as a whole are known from the start.
  if (kind === "empty") return;
  const error = await helper.mount(kind, path);
  const isHarmless = kind === "fixed" ? harmlessForFixed : harmless;
  if (!isHarmless.has(error)) throw new ToolsError("unavailable", `${path} could not be protected (error ${error}).`);
}
