import { AuthStorage } from "@tau/config/auth";
import { SettingsManager } from "@tau/config/settings";
import type { ExtensionAPI, ExtensionContext, ExtensionFactory } from "@tau/extensions";
import { getAgentDir } from "@tau/pi/internal";
import { awaitServers, createFeatureApi } from "./feature-api.ts";

export interface McpExtensionOptions {
  /** Where `mcp.json` and logins are. Default: that of tau. */
  agentDir?: string;
}

/**
 * pi's `createMcpExtension`: the servers of `mcp.json`, of the user and of a trusted project, and those that extensions
 * register. As in pi, they run without a question and without a sandbox: a program decides by using this, and by trusting a project.
 */
export const createMcpExtension =
  ({ agentDir = getAgentDir() }: McpExtensionOptions = {}): ExtensionFactory =>
  (pi) => {
    pi.on("session_start", async (event, context) => {
      const handlers = await openFeature(pi, context, agentDir);
      await handlers.get("session_start")?.(event, context);
      // The feature connects other servers when somebody searches; pi connects all as the session starts.
      awaitServers(pi.events, Promise.resolve(handlers.get("tools_discover")?.({}, context)));
    });
  };

type Handlers = ReadonlyMap<string, (event: object, context: ExtensionContext) => unknown>;

/** Loads the feature for the session's directory. Returns its handlers of events that the session has had or never has. */
async function openFeature(pi: ExtensionAPI, context: ExtensionContext, agentDir: string): Promise<Handlers> {
  const { cwd } = context;
  const { mcp } = await import("@tau/features");
  const projectTrusted = context.isProjectTrusted();
  const settings = await SettingsManager.create(cwd, agentDir, { watch: false, projectTrusted });
  const handlers = new Map<string, (event: object, context: ExtensionContext) => unknown>();
  const on = (name: string, handler: (event: object, context: ExtensionContext) => unknown) => {
    if (name !== "session_start" && name !== "tools_discover") return pi.on(name as never, handler as never);
    handlers.set(name, handler);
    return () => handlers.delete(name);
  };
  const register = await mcp().load({
    cwd,
    agentDir,
    settings,
    env: process.env,
    canStartPrograms: true,
    openAuth: async () => AuthStorage.create(agentDir),
  });
  const getSettings = () => ({ ...settings.get(), policy: { ...settings.get().policy, profile: "permissive" } });
  await register(createFeatureApi(pi, { on, getSettings } as unknown as Partial<ExtensionAPI>));
  return handlers;
}
