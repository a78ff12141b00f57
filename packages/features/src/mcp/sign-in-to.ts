/** Signs in to a server of a session or a command. The library is loaded when a login begins. */
import { systemClock } from "@tau/ai";
import type { FeaturePlace } from "@tau/extensions";
import type { McpServers } from "./servers.ts";
import type { SignInInteraction, SignInOutcome } from "./sign-in.ts";

interface SignInParts extends Pick<FeaturePlace, "openAuth"> {
  servers: McpServers;
  interaction: SignInInteraction;
  signal?: AbortSignal;
}

export async function signInTo(
  name: string,
  { servers, openAuth, interaction, signal }: SignInParts,
): Promise<SignInOutcome> {
  const resolved = await servers.resolve(name);
  if (resolved.kind === "failed") return resolved;
  const { entry, target } = resolved;
  if (target.type === "stdio") {
    const message = `The MCP server ${name} is a program. Signing in is for servers with an address.`;
    return { kind: "failed", failure: { kind: "configuration", message } };
  }
  const { signIn } = await import("./sign-in.ts");
  return await signIn({
    entry,
    target,
    auth: await openAuth(),
    fetch: servers.fetch,
    interaction,
    clock: systemClock,
    signal,
  });
}
