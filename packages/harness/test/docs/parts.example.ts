import { AuthStorage, createAgentSession, ModelRegistry, SettingsManager } from "@tau/harness";
import { formatFileProblem } from "@tau/config/settings";

/** A session whose parts are shared with the rest of a program, which closes them. */
export async function openWithParts(cwd: string, agentDir: string) {
  const settingsManager = await SettingsManager.create(cwd, agentDir);
  await settingsManager.update("global", { retry: { maxRetries: 5 }, defaultThinkingLevel: "low" });

  const authStorage = AuthStorage.create(agentDir);
  await authStorage.set("anthropic", { type: "api_key", key: "$MY_ANTHROPIC_KEY" });

  const modelRegistry = await ModelRegistry.create(agentDir, { hasKey: (provider) => provider === "anthropic" });
  const model = "anthropic/claude-opus-4-5";
  const session = await createAgentSession({ cwd, agentDir, settingsManager, authStorage, modelRegistry, model });
  const close = async () => {
    await session.dispose();
    modelRegistry.close();
    await settingsManager.close();
  };
  const problems = settingsManager.problems.map(formatFileProblem);
  return { session, problems, close };
}
