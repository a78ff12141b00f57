import { systemClock } from "@tau/ai";
import { type AgentSessionParams, createAgentSession, createDebugLog } from "@tau/harness";

export async function promptWithLog(text: string, path: string, params: AgentSessionParams): Promise<void> {
  const debugLog = createDebugLog({ path, clock: systemClock, secrets: () => [process.env["MY_TOKEN"] ?? ""] });
  const session = await createAgentSession({ ...params, debugLog });
  await session.prompt(text);
  await session.dispose();
  await debugLog.close();
}
