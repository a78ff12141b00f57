/** Lets the extensions of a hosted session leave it for another one. */
import type { ChildOptions, ChildSession, ExtensionEvent } from "@tau/extensions";
import type { ExtensionHost } from "@tau/extensions/internal";
import type { Command, CommandData, CommandName } from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { CommandOptions } from "./commands/command.ts";
import type { HostedSession } from "./hosted-session.ts";

type Leaving = ExtensionEvent<"session_before_switch" | "session_before_fork">;

/** Whether an extension does not want its session to be left. */
export async function isCancelled({ extensions }: AgentSession, event: Leaving): Promise<boolean> {
  if (!extensions?.has(event.type)) return false;
  return (await extensions.emit(event))?.cancel === true;
}

/** The part of `Host` that its extensions use. */
interface ReplacingHost {
  get(sessionId: string): HostedSession;
  openChild(sessionId: string, options: ChildOptions): Promise<ChildSession>;
  execute<Name extends CommandName>(
    sessionId: string,
    command: Command<Name>,
    options?: CommandOptions,
  ): Promise<CommandData<Name>>;
}

/** It executes the commands of the protocol, so that handlers are asked as they are for a client. */
export function createExtensionHost(host: ReplacingHost, sessionId: string): ExtensionHost {
  const toReplacement = (data: { sessionId: string; cancelled: boolean }) =>
    data.cancelled ? ({ cancelled: true } as const) : { cancelled: false as const, sessionId: data.sessionId };
  return {
    async newSession({ setup, parentSession }) {
      const parent = parentSession === undefined ? {} : { parentSession };
      const command = { type: "new_session", ...parent } as const;
      return toReplacement(await host.execute(sessionId, command, setup && { setup }));
    },
    fork: async (entryId, position) =>
      toReplacement(await host.execute(sessionId, { type: position === "at" ? "branch" : "fork", entryId })),
    switchSession: async (sessionPath) =>
      toReplacement(await host.execute(sessionId, { type: "switch_session", sessionPath })),
    openChild: (options) => host.openChild(sessionId, options),
    createContext: (other) => host.get(other).session.extensions?.createReplacedContext(),
  };
}
