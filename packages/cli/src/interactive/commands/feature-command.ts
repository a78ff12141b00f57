/** Runs a command of a feature by a key. */
import type { Interface } from "../interface.ts";
import type { SessionClient } from "../session-client.ts";

interface FeatureCommandOptions {
  getClient: () => SessionClient;
  say: Interface["say"];
}

/** Says so where the session does not have the command: it would be a prompt. */
export async function runFeatureCommand(name: string, { getClient, say }: FeatureCommandOptions): Promise<void> {
  const client = getClient();
  const { commands } = await client.execute({ type: "get_commands" });
  if (!commands.some((command) => command.name === name)) {
    return say(`This session has no /${name}: the setting features.${name} turns it off.`, "warning");
  }
  await client.execute({ type: "steer", message: `/${name}` });
}
