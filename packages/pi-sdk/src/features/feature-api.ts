/** Gives features of tau the members that they need besides pi's own API. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import type { EventBus, ExtensionAPI, SharedResource } from "@tau/extensions";

/** How long a search waits for servers that are connecting. */
const maxConnectMs = 10_000;
const connecting = new WeakMap<EventBus, Promise<unknown>>();

/** Lets searches of the extensions that share this bus wait until servers are connected. Failures are those of the servers. */
export const awaitServers = (events: EventBus, connected: Promise<unknown>): void =>
  void connecting.set(
    events,
    connected.catch(() => undefined),
  );

export async function waitForServers(events: EventBus): Promise<void> {
  await untilTimeout(connecting.get(events) ?? Promise.resolve(), maxConnectMs, systemClock);
}

/** Members that `changes` has are used instead. Programs of a feature run without a sandbox, like all of such a session. */
export function createFeatureApi(pi: ExtensionAPI, changes: Partial<ExtensionAPI>): ExtensionAPI {
  const shared = new Map<string, Promise<SharedResource>>();
  const own: Partial<ExtensionAPI> = {
    // Nothing here waits for a person without a dialog of the program.
    getPersonWaitMs: () => 0,
    async findTools() {
      await waitForServers(pi.events);
      return [];
    },
    keepText: async (text) => await keepFile("output.txt", Buffer.from(text)),
    keepImage: async ({ data, mimeType }) =>
      await keepFile(`image.${mimeType.replace(/^.*\//, "")}`, Buffer.from(data, "base64")),
    log: () => {},
    async shared(key, open) {
      const { hostPrograms } = await import("@tau/features/agents");
      const opened = shared.get(key) ?? Promise.resolve(open({ spawn: hostPrograms.spawn as ExtensionAPI["spawn"] }));
      shared.set(key, opened);
      opened.catch(() => shared.delete(key));
      return (await opened) as never;
    },
  };
  pi.on("session_shutdown", async () => {
    const opened = [...shared.values()];
    shared.clear();
    for (const resource of await Promise.allSettled(opened)) {
      if (resource.status === "fulfilled") await resource.value.close();
    }
  });
  return { ...pi, ...own, ...changes };
}

async function keepFile(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), "tau-kept-")), name);
  await writeFile(path, bytes, { mode: 0o600 });
  return path;
}
