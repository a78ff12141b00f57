/** The commands of a session as methods. The host checks their parameters. */
import type { Command, CommandName } from "@tau/protocol";
import { encodeFrame } from "../client.ts";
import { GatewayError } from "../errors.ts";
import { acceptCommand, isMessageCommand } from "../inbox/accept-command.ts";
import type { MethodContext } from "./method.ts";

export async function runCommand(
  context: MethodContext,
  name: CommandName,
  { sessionId, ...fields }: Record<string, unknown>,
): Promise<unknown> {
  const { parts, client, requestId } = context;
  if (typeof sessionId !== "string") throw new GatewayError("invalid_parameters", "sessionId is missing.");
  if (isMessageCommand(name)) return await acceptCommand(context, name, { ...fields, sessionId });
  const { host } = await parts.sessions.open(sessionId);
  return await host.execute(sessionId, { ...fields, type: name } as Command, {
    onOutput: (delta) => {
      const payload = { sessionId, id: requestId, delta };
      client.send(encodeFrame({ type: "event", event: "session.bash.output", payload }));
    },
  });
}
