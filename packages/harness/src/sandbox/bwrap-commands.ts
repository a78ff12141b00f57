/** Commands in a sandbox each, where the program that starts the commands of a session is not installed. */
import { createPidNamespace } from "@tau/tools";
import { lookAtPath } from "./look.ts";
import { type Mount, toBwrapArguments } from "./mounts.ts";
import { NetworkHolder } from "./network/network-holder.ts";
import type { BwrapParts, CreateRequest, EntryWay, SandboxedCommands } from "./sandboxed-commands.ts";
import { createSystemCallFilter } from "./system-calls.ts";

const descriptors = { arguments: 3, filter: 4 };

/** A socket that was found may be gone with its program: it cannot be covered, and need not be. */
const canBeMade = ({ kind, path }: Mount): boolean =>
  (kind !== "hidden-file" && kind !== "hidden-directory") || lookAtPath(path) !== undefined;

export class BwrapCommands implements SandboxedCommands {
  readonly isFixed = false;
  readonly #parts: BwrapParts;
  readonly #filter = createSystemCallFilter(process.arch);
  readonly #network: NetworkHolder | undefined;

  constructor(parts: BwrapParts) {
    this.#parts = parts;
    if (parts.network !== "all") this.#network = new NetworkHolder(parts);
  }

  async enter(createRequest: CreateRequest, mounts: readonly Mount[]): Promise<EntryWay> {
    // Without a common network each command has one of its own.
    const network = await this.#network?.open();
    const request = await createRequest(network?.sockets);
    const enterNetwork = network?.enter ?? [];
    const args = toBwrapArguments({
      ...this.#parts,
      mounts: mounts.filter(canBeMade),
      forHelper: false,
      keepsNetwork: enterNetwork.length > 0,
      filterDescriptor: descriptors.filter,
    });
    const bytes = Buffer.from([...args, "--chdir", request.cwd].map((text) => `${text}\0`).join(""));
    const program = [...enterNetwork, this.#parts.bwrap, "--args", String(descriptors.arguments), "--"];
    return {
      kind: "wrap",
      request: { ...request, inputs: [bytes, this.#filter] },
      namespace: createPidNamespace("bubblewrap", program as [string, ...string[]]),
    };
  }

  async close(): Promise<void> {
    await this.#network?.close();
  }
}
