/** `tau attach`: the interactive terminal on a session of the gateway. */
import { openSettings } from "../hosting/open-settings.ts";
import { idInFileName } from "@tau/harness/session";
import { type GatewayClient, isGatewayClientError } from "@tau/protocol/client";
import { connectToGateway } from "@tau/protocol/node";
import { getAgentDir } from "../hosting/agent-dir.ts";
import { parseSessionArgs } from "../start/args.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { createRemoteClient, waitUntilLoaded } from "../gateway/remote-client.ts";
import { watchConnection } from "../gateway/watch-connection.ts";
import { createProgram } from "../terminal/program.ts";
import { runTerminal } from "../modes/run-terminal.ts";
import { version } from "../start/version.ts";
import type { CommandArgs } from "./usage.ts";
import { HarnessError } from "@tau/protocol";

export async function attach(args: CommandArgs, io: Io): Promise<ExitCode> {
  if (!io.terminal.input || !io.terminal.out) {
    throw new UsageError(
      "arguments",
      "tau attach needs a terminal. To ask something from a script: tau -p --gateway MESSAGE.",
    );
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
      describeEnd: (id: string) => `The session continues in the gateway. To see it again: tau attach ${id}\n`,
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
export async function findSessionId(gateway: GatewayClient, reference: string | undefined): Promise<string> {
  const open = async (sessionId: string) => (await gateway.call("sessions.open", { sessionId })).sessionId;
  if (reference === undefined) {
    const [last] = (await gateway.call("sessions.list", { all: true, children: false, limit: 1 })).sessions;
    if (last) return await open(last.id);
    throw new UsageError("not_found", "The gateway has no sessions yet. Begin one: tau -p --gateway 'Hello'");
  }
  const { sessions } = await gateway.call("sessions.list", { all: true, query: reference });
  const matches = sessions.map(({ id }) => id).filter((id) => id.startsWith(reference));
  // A session that is not in the list may be there all the same: it is looked for by its whole id.
  if (matches.length === 0) return await open(reference).catch(addAdvice);
  if (matches.includes(reference) || matches.length === 1)
    return await open(matches.includes(reference) ? reference : matches[0]!);
  throw new UsageError("not_found", `Several sessions begin with ${reference}: ${matches.slice(0, 5).join(", ")}`);
}

function addAdvice(error: unknown): never {
  if (!isGatewayClientError(error) || error.code !== "not_found") throw error;
  throw new UsageError(
    "not_found",
    `${error.message} tau attach shows the one that was used last, and /resume there all others.`,
    {
      cause: error,
    },
  );
}

const createOtherSessions = (gateway: GatewayClient) => ({
  openSession: async (path: string) => {
    const { sessionId } = await gateway.call("sessions.open", { sessionId: idInFileName(path) });
    await waitUntilLoaded(gateway.session(sessionId));
    return createRemoteClient(gateway, sessionId);
  },
  openDemo: async () => {
    throw new HarnessError("unavailable", "The demonstration runs in a program of its own: tau demo.");
  },
});
