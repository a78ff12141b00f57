/** Commands in a terminal of the editor. They run outside of the sandbox, so this is used only where it is off. */
import type { CommandTerminal, ExitStatus, TerminalCommand } from "@tau/tools";
import { type Connection, RequestFailed } from "../json-rpc/connection.ts";
import type { CreateTerminalRequest, EnvVariable } from "./schema.generated.ts";

interface EditorTerminalParts {
  connection: Connection;
  getSessionId: () => string;
  /** Our own environment, which the editor has given us and gives its terminals too. */
  env: Readonly<Record<string, string | undefined>>;
  /** Shows the terminal in its call. */
  onStarted: (toolCallId: string, terminalId: string) => void;
  report: (message: string) => void;
}

export function createEditorTerminal(parts: EditorTerminalParts): CommandTerminal {
  const { connection, getSessionId, onStarted, report } = parts;
  return {
    async start({ toolCallId, argv: [command, ...args], cwd, env, maxBytes }) {
      const params: CreateTerminalRequest = {
        sessionId: getSessionId(),
        command,
        args,
        cwd,
        env: listChanges(parts.env, env),
        outputByteLimit: maxBytes,
      };
      const created = await request(connection, "terminal/create", params);
      const { terminalId } = (created.result ?? {}) as { terminalId?: unknown };
      if (typeof terminalId !== "string") {
        report(`The editor has no terminal, so the command runs without one. ${created.problem ?? ""}`.trim());
        return undefined;
      }
      onStarted(toolCallId, terminalId);
      return openCommand(connection, { sessionId: getSessionId(), terminalId });
    },
  };
}

function openCommand(connection: Connection, terminal: { sessionId: string; terminalId: string }): TerminalCommand {
  return {
    exit: request(connection, "terminal/wait_for_exit", terminal).then(toStatus),
    async readOutput() {
      const { result } = await request(connection, "terminal/output", terminal);
      const { output, truncated } = (result ?? {}) as { output?: unknown; truncated?: unknown };
      return { text: typeof output === "string" ? output : "", isCut: truncated === true };
    },
    kill: async () => void (await request(connection, "terminal/kill", terminal)),
    release: async () => void (await request(connection, "terminal/release", terminal)),
  };
}

/** The variables that differ from our own. A variable that the command may not have is emptied: it cannot be removed. */
export function listChanges(
  own: Readonly<Record<string, string | undefined>>,
  wanted: Readonly<Record<string, string>>,
): EnvVariable[] {
  const removed = Object.keys(own).filter((name) => own[name] && !Object.hasOwn(wanted, name));
  const changed = Object.entries(wanted).filter(([name, value]) => own[name] !== value);
  return [...removed.map((name) => ({ name, value: "" })), ...changed.map(([name, value]) => ({ name, value }))];
}

/** The client may be gone, or have closed the terminal. */
async function request(
  connection: Connection,
  method: string,
  params: object,
): Promise<{ result?: unknown; problem?: string }> {
  try {
    return { result: await connection.request(method, params) };
  } catch (error) {
    if (error instanceof RequestFailed) return { problem: error.message };
    throw error;
  }
}

function toStatus({ result, problem }: { result?: unknown; problem?: string }): ExitStatus {
  const { exitCode, signal } = (result ?? {}) as { exitCode?: unknown; signal?: unknown };
  if (typeof signal === "string") return { kind: "signalled", signal };
  if (typeof exitCode === "number") return { kind: "exited", code: exitCode };
  return { kind: "failed", message: problem ?? "The editor did not say how it ended." };
}
