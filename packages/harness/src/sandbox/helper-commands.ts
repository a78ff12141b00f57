/** Commands in one sandbox for the whole session, which is started with the first of them. */
import { constants } from "node:os";
import { getErrorMessage } from "@tau/ai/internal";
import type { ConfinedLimits } from "@tau/tools";
import { type Helper, notStarted, openHelper } from "./helper.ts";
import { lookAtPath } from "./look.ts";
import type { InnerSockets } from "./network/inner-sockets.ts";
import { isMountMissing, maxRenewals, withoutVanished } from "./missing-mounts.ts";
import { getCapabilityMask, type Mount, toBwrapArguments } from "./mounts.ts";
import type { BwrapParts, CreateRequest, EntryWay, MountPlan, SandboxedCommands } from "./sandboxed-commands.ts";
import { createSystemCallFilter } from "./system-calls.ts";

interface Opened {
  readonly helper: Helper;
  /** What is mounted, in words that tell two mounts apart. */
  readonly mounted: Set<string>;
}

export class HelperCommands implements SandboxedCommands {
  readonly isFixed = true;
  readonly #parts: BwrapParts & { readonly helper: string };
  #opened: Promise<Opened> | undefined;

  constructor(parts: BwrapParts & { readonly helper: string }) {
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
    await opened?.helper.close();
  }

  /** Commands that come at the same time wait for the same sandbox. */
  #open(plan: MountPlan): Promise<Opened> {
    return (this.#opened = this.#reopen(this.#opened, plan));
  }

  /** A sandbox that was ended from outside is started again. */
  async #reopen(current: Promise<Opened> | undefined, plan: MountPlan): Promise<Opened> {
    const opened = await current?.catch(() => undefined);
    return opened && !opened.helper.isOver() ? opened : await this.#startUntilStill(plan);
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
    const { bwrap, helper: program, isRoot } = this.#parts;
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
    });
    return { helper, mounted: new Set(mounts.map(getKey)) };
  }
}

/** A file that is replaced outside loses what was mounted on it, so the new one needs a mount of its own. */
const getKey = ({ kind, path }: Mount): string => `${kind} ${path} ${lookAtPath(path)?.ino}`;

/** What has vanished meanwhile needs no protection. */
const harmless: ReadonlySet<number> = new Set([0, constants.errno.ENOENT, constants.errno.ENOTDIR]);

async function addMount(helper: Helper, { kind, path }: Mount): Promise<void> {
  // Directories that are replaced as a whole are known from the start.
  if (kind === "empty") return;
  const error = await helper.mount(kind, path);
  if (!harmless.has(error)) throw new Error(`${path} could not be protected (error ${error}).`);
}
