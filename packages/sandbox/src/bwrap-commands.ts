/** Commands in a sandbox each, where the program that starts the commands of a session is not installed. */
import type { ConfinedLimits, ConfinedProcess, SpawnRequest } from "@tau/tools";
import { descriptors, startBwrap } from "./bwrap-process.ts";
import { notStarted } from "./helper.ts";
import { isMountMissing, isNamespaceRefused, maxRenewals, withoutVanished } from "./missing-mounts.ts";
import { toBwrapArguments } from "./mounts.ts";
import { NetworkHolder } from "./network/network-holder.ts";
import type { BwrapParts, CreateRequest, EntryWay, MountPlan, SandboxedCommands } from "./sandboxed-commands.ts";
import { createSystemCallFilter } from "./system-calls.ts";

export class BwrapCommands implements SandboxedCommands {
  readonly isFixed = false;
  readonly #parts: BwrapParts;
  readonly #filter: Buffer;
  readonly #network: NetworkHolder | undefined;

  constructor(parts: BwrapParts) {
    this.#parts = parts;
    this.#filter = createSystemCallFilter(process.arch, parts);
    if (parts.network !== "all") this.#network = new NetworkHolder(parts);
  }

  async enter(createRequest: CreateRequest, plan: MountPlan): Promise<EntryWay> {
    // Without a common network each command has one of its own.
    const network = await this.#network?.open();
    const request = await createRequest(network?.sockets);
    const enterNetwork = network?.enter ?? [];
    return { start: (limits) => this.#start({ request, limits, plan, enterNetwork }) };
  }

  async #start({ request, limits, plan, enterNetwork }: Start): Promise<ConfinedProcess> {
    for (let renewals = 0; ; renewals++) {
      const args = toBwrapArguments({
        ...this.#parts,
        mounts: withoutVanished(plan.mounts),
        forHelper: false,
        keepsNetwork: enterNetwork.length > 0,
        filterDescriptor: descriptors.filter,
      });
      const { process, complaint } = await startBwrap({
        program: [...enterNetwork, this.#parts.bwrap],
        arguments: [...args, "--chdir", request.cwd],
        filter: this.#filter,
        request,
        limits,
      });
      // Without a word it was ended before the command began.
      if (!complaint?.trim()) return process;
      const canHelp = isMountMissing(complaint) || isNamespaceRefused(complaint);
      if (!canHelp || renewals === maxRenewals)
        return notStarted(`The sandbox could not be made (${complaint.trim()}).`);
      plan.renew();
    }
  }

  async close(): Promise<void> {
    await this.#network?.close();
  }
}

interface Start {
  readonly request: SpawnRequest;
  readonly limits: ConfinedLimits;
  readonly plan: MountPlan;
  /** The words before a program that is to run in the common network. */
  readonly enterNetwork: readonly string[];
}
