/** `tau gateway`: serves sessions until somebody stops it. */
import { type JoinCluster, serveGateway } from "@tau/gateway";
import { openSettings } from "../hosting/open-settings.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import { loadSharedModule } from "../hosting/shared-modules.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { findPage } from "../gateway/find-page.ts";
import { createOpenDirectory } from "../gateway/open-directories.ts";
import { version } from "../start/version.ts";
import type { CommandArgs } from "./usage.ts";

export async function runGateway(args: CommandArgs, io: Io): Promise<void> {
  const agentDir = getAgentDir(io);
  const overrides = parseOverrides(args);
  const settings = await openSettings({ cwd: io.cwd, agentDir });
  settings.mustBeWhole();
  const stopping = createStopping(io);
  const page = findPage();
  const clusterUrl = args.value("cluster");
  try {
    const served = await serveGateway({
      agentDir,
      version,
      settings,
      startDirectory: io.cwd,
      getSettings: () => ({ ...settings.get().gateway, ...overrides }),
      openDirectory: await createOpenDirectory(io),
      extensions: { discovers: true, loadShared: loadSharedModule },
      ...(page !== undefined && { pageDirectory: page }),
      ...(clusterUrl !== undefined && { joinCluster: createJoin(clusterUrl) }),
      onStop: stopping.ask,
    });
    const url = served.gateway.url.replace(/^ws/, "http");
    const listening = `Listening on ${url}\n`;
    io.out(listening);
    // Programs that start it may read either; on a terminal once is enough.
    if (!io.terminal.out) io.err(listening);
    if (page === undefined) io.err("tau: the page is not built here, so the gateway serves programs only.\n");
    await stopping.asked;
    io.err("Stopping when the runs are over; another Ctrl-C stops at once.\n");
    await served.stop({ signal: stopping.now });
  } finally {
    stopping.end();
    await settings.close();
  }
}

function parseOverrides(args: CommandArgs): { host?: string; port?: number } {
  const [host, port] = [args.value("host"), args.value("port")];
  const number = Number(port ?? 0);
  if (!/^\d*$/.test(port ?? "") || number > 65_535) {
    throw new UsageError("arguments", "--port takes a number from 0 to 65535; 0 means any that is free.");
  }
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port: number }) };
}

/** Loads the code of clusters only where there is one. */
const createJoin =
  (url: string): JoinCluster =>
  async (node) => {
    const { joinCluster } = await import("@tau/cluster");
    return await joinCluster({ ...node, url });
  };

/** The first signal asks the gateway to stop, and the second to wait for nothing. */
function createStopping(io: Io) {
  const [asking, now] = [new AbortController(), new AbortController()];
  const ask = () => (asking.signal.aborted ? now : asking).abort();
  const end = io.takeSignals?.(ask);
  // Where the program does not take signals itself, its own says all: it was interrupted.
  io.signal.addEventListener("abort", ask);
  const asked = new Promise<void>((resolve) => asking.signal.addEventListener("abort", () => resolve()));
  return {
    ask,
    asked,
    now: now.signal,
    end() {
      end?.();
      io.signal.removeEventListener("abort", ask);
    },
  };
}
