/** `tau attach`: the interactive terminal on a session of the gateway. */
import { openSettings } from "@tau/harness/policy";
import { idInFileName } from "@tau/harness/session";
import type { ClientState, GatewayClient } from "@tau/protocol/client";
import { connectToGateway } from "@tau/protocol/node";
import { getAgentDir } from "../agent-dir.ts";
import { parseSessionArgs } from "../args.ts";
import type { Io } from "../command.ts";
import { UsageError } from "../errors.ts";
import type { ExitCode } from "../exit-codes.ts";
import { createRemoteClient, waitUntilLoaded } from "../gateway/remote-client.ts";
import { createProgram } from "../program.ts";
import { runTerminal } from "../run-terminal.ts";
import { version } from "../version.ts";
import type { CommandArgs } from "./usage.ts";

export async function attach(args: CommandArgs, io: Io): Promise<ExitCode> {
  if (!io.terminal.input || !io.terminal.out) {
    throw new UsageError("tau attach needs a terminal. To ask something from a script: tau -p --gateway MESSAGE.");
  }
  const parsed = parseSessionArgs([]);
  if (parsed.kind !== "session") throw new Error("No arguments are those of a session.");
  const agentDir = getAgentDir(io);
  const url = args.value("url");
  const gateway = await connectToGateway({
    agentDir,
    ...(url !== undefined && { url }),
    client: { name: "tau attach", version },
    abilities: { approvals: true, ui: true },
  });
  try {
    const sessionId = await findSessionId(gateway, args.positionals[0]);
    await waitUntilLoaded(gateway.session(sessionId));
    const settingsManager = await openSettings({ cwd: io.cwd, agentDir, watch: true });
    const { cwd } = await gateway.session(sessionId).call("get_state");
    const shown = {
      client: createRemoteClient(gateway, sessionId),
      settingsManager,
      cwd,
      program: createProgram(io, createOtherSessions(gateway)),
      onShown: (notify: (message: string) => void) => watchConnection(gateway, notify),
      describeEnd: (id: string) => `The session goes on in the gateway. To see it again: tau attach ${id}\n`,
      close: async () => {
        gateway.close();
        await settingsManager.close();
      },
    };
    return await runTerminal(shown, parsed.options, io);
  } finally {
    gateway.close();
  }
}

/** An id, or its beginning. Without one: the session that was used last. */
async function findSessionId(gateway: GatewayClient, reference: string | undefined): Promise<string> {
  if (reference !== undefined) return (await gateway.call("sessions.open", { sessionId: reference })).sessionId;
  const { sessions } = await gateway.call("sessions.list", { all: true, limit: 1 });
  const [last] = sessions;
  if (last) return (await gateway.call("sessions.open", { sessionId: last.id })).sessionId;
  throw new Error("The gateway has no sessions yet. Begin one: tau -p --gateway 'Hello'");
}

const createOtherSessions = (gateway: GatewayClient) => ({
  openSession: async (path: string) => {
    const { sessionId } = await gateway.call("sessions.open", { sessionId: idInFileName(path) });
    await waitUntilLoaded(gateway.session(sessionId));
    return createRemoteClient(gateway, sessionId);
  },
  openDemo: async () => {
    throw new Error("The demonstration runs in a program of its own: tau demo.");
  },
});

/** Says once that the connection is lost, and once that it is there again. */
function watchConnection(gateway: GatewayClient, notify: (message: string) => void): () => void {
  let isLost = false;
  return gateway.onState((state: ClientState) => {
    if (state.kind === "waiting" && !isLost) {
      isLost = true;
      notify("The connection to the gateway is lost. The session goes on there, and this terminal connects again.");
    } else if (state.kind === "open" && isLost) {
      isLost = false;
      notify("The connection to the gateway is there again.");
    } else if (state.kind === "refused") notify(`The gateway refuses this terminal: ${state.reason.message}`);
  });
}
