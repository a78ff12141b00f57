/** The code of the feature `context`. */
import type { ExtensionAPI, ExtensionCommandContext, ExtensionFactory } from "@tau/extensions";
import { contextCommand } from "./feature.ts";
import { formatContext } from "./format-context.ts";
import { type ContextContent, isCounted, measureContext } from "./measure-context.ts";

export const createContextExtension = (): ExtensionFactory => (tau) =>
  tau.registerCommand(contextCommand.name, {
    description: contextCommand.description,
    handler(_args, context) {
      context.ui.notify(formatContext(measureContext(readContent(tau, context)), context.model));
    },
  });

function readContent(tau: ExtensionAPI, context: ExtensionCommandContext): ContextContent {
  const { sessionManager } = context;
  const active = new Set(tau.getActiveTools());
  const usage = context.getContextUsage();
  const counted = isCounted(sessionManager.getBranch()) ? usage?.tokens : undefined;
  return {
    systemPrompt: context.getSystemPrompt(),
    instructions: context.getSystemPromptOptions().contextFiles,
    tools: tau.getAllTools().filter(({ name }) => active.has(name)),
    messages: sessionManager.buildSessionContext().messages,
    ...(typeof counted === "number" && { countedTokens: counted }),
    ...(usage && { windowTokens: usage.contextWindow }),
  };
}
