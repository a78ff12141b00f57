/** The demonstration as a session of the interactive terminal. Nothing of it is kept. */
import { rm } from "node:fs/promises";
import { streamSimple } from "@tau/ai";
import { SessionManager } from "@tau/harness";
import { createHost, type Host } from "@tau/harness/host";
import type { Io } from "../commands/command.ts";
import { askAtTerminal } from "../hosting/open-host.ts";
import { createDemoModel, createDemoProject } from "./demo-script.ts";

interface DemoHost {
  host: Host;
  sessionId: string;
  /** Ends the session and removes its directories. */
  close: () => Promise<void>;
}

export async function openDemoHost(io: Io): Promise<DemoHost> {
  const { root, project, agentDir } = await createDemoProject();
  const model = createDemoModel({ isOnTerminal: io.terminal.out });
  const host = createHost({
    params: { cwd: project, model, streamFn: streamSimple, ask: askAtTerminal, abortSignal: io.signal },
    agentDir,
  });
  const close = async () => {
    await host.dispose();
    model.dispose();
    await rm(root, { recursive: true, force: true });
  };
  try {
    const sessionId = await host.open(await SessionManager.inMemory(project, { agentDir }));
    return { host, sessionId, close };
  } catch (error) {
    await close();
    throw error;
  }
}
