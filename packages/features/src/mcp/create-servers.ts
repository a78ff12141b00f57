/** The servers of a session, which use what the session lets extensions use. */
import { systemClock } from "@tau/ai";
import { createProxiedFetch, SerialQueue, version } from "@tau/ai/internal";
import { withProxySetting } from "@tau/config/settings";
import type { ExtensionAPI, ExtensionContext, FeaturePlace } from "@tau/extensions";
import type { SandboxNetwork } from "@tau/sandbox";
import { elicit } from "./elicitation.ts";
import type { McpPerson, McpSpawn } from "./ports.ts";
import { sample } from "./sampling.ts";
import type { McpServer } from "./server.ts";
import { McpServers } from "./servers.ts";

export const createServers = (
  tau: ExtensionAPI,
  getContext: () => ExtensionContext,
  { agentDir, cwd, env, openAuth }: Pick<FeaturePlace, "agentDir" | "cwd" | "env" | "openAuth">,
): McpServers => {
  const fetch = createProxiedFetch(
    withProxySetting(
      (name) => env[name],
      () => tau.getSettings().httpProxy,
    ),
  );
  return new McpServers({
    cwd,
    agentDir,
    version,
    env,
    clock: systemClock,
    share: (key, create) =>
      tau.shared<McpServer>(key, (host) => {
        const spawn: McpSpawn = (command, args, options) => host.spawn(command, args, options);
        return create(spawn);
      }),
    isPermissive: () => tau.getSettings().policy.profile === "permissive",
    getNetwork: () => getNetwork(tau),
    ask: createQuestions(getContext),
    person: createPerson(getContext),
    createAuthProvider: async (entry, target) =>
      // Late: the library is large.
      await (
        await import("./oauth-provider.ts")
      ).openStoredLogin({ auth: await openAuth(), entry, target, clock: systemClock, fetch }),
    fetch,
    log: (message, level = "debug") => tau.log(level, message),
  });
};

function getNetwork(tau: Pick<ExtensionAPI, "getSettings">): SandboxNetwork {
  return tau.getSettings().sandbox.network;
}

/** Asks one question after the other: servers that start together would cover each other's. */
function createQuestions(getContext: () => ExtensionContext) {
  const queue = new SerialQueue();
  return async (title: string, lines: readonly string[]): Promise<boolean | undefined> => {
    const { hasUI, ui } = getContext();
    if (!hasUI) return undefined;
    return await queue.add(() => ui.confirm(title, lines.join("\n")));
  };
}

const createPerson = (getContext: () => ExtensionContext): McpPerson => ({
  async elicit(server, params, signal) {
    const { hasUI, ui } = getContext();
    return hasUI ? await elicit(params, { ui, server, signal }) : { action: "decline" };
  },
  async sample(server, params, signal) {
    const context = getContext();
    if (!context.hasUI) throw new Error("Nobody can be asked whether the model may be used.");
    return await sample(params, { context, server, signal });
  },
});
