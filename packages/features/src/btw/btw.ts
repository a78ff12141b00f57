/** The code of the feature `btw`. */
import type { AssistantMessage, Context } from "@tau/ai";
import { joinTextBlocks } from "@tau/ai/internal";
import type { ExtensionAPI, ExtensionCommandContext, ExtensionFactory } from "@tau/extensions";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import { btwCommand } from "./feature.ts";

const statusKey = "btw";
const maxShownQuestion = 200;

const request = (question: string): string =>
  `A side question of the user, while the work above waits or continues. Answer it from what you know and from the conversation, in a few sentences. Call no tool and do not continue the work: the conversation goes on without this question and your answer.\n\n${question}`;

export const createBtwExtension = (): ExtensionFactory => (tau) =>
  tau.registerCommand(btwCommand.name, {
    description: btwCommand.description,
    async handler(args, context) {
      const question =
        args.trim() || (await context.ui.input("What do you want to know beside the conversation?"))?.trim();
      if (question) await answer(tau, question, context);
      else if (!context.hasUI) context.ui.notify("Usage: /btw QUESTION", "warning");
    },
  });

async function answer(tau: ExtensionAPI, question: string, context: ExtensionCommandContext): Promise<void> {
  const { ui, model, modelRegistry, thinkingLevel } = context;
  if (!model) return ui.notify("There is no model to ask. /model chooses one.", "error");
  // Taken before the request, so that an abort of the session ends it.
  const signal = tau.getChildrenSignal();
  ui.setStatus(statusKey, "Answering beside the conversation…");
  try {
    const message = await modelRegistry.complete(model, buildRequest(tau, question, context), {
      signal,
      toolChoice: "none",
      ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
    });
    const { text, isAnswer } = describeAnswer(message);
    ui.notify(`Aside: ${toVisibleLine(question, maxShownQuestion)}\n${toVisible(text)}`, isAnswer ? "info" : "error");
  } finally {
    ui.setStatus(statusKey, undefined);
  }
}

/** The prompt, the tools and the messages of the session's own requests come first, so that the provider has them in its cache. */
function buildRequest(tau: ExtensionAPI, question: string, context: ExtensionCommandContext): Context {
  const byName = new Map(tau.getAllTools().map((tool) => [tool.name, tool]));
  const tools = tau.getActiveTools().flatMap((name) => byName.get(name) ?? []);
  return {
    systemPrompt: context.getSystemPrompt(),
    messages: [
      ...context.sessionManager.buildRequestMessages(),
      { role: "user", content: request(question), timestamp: 0 },
    ],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    }),
  };
}

/** Pure. */
function describeAnswer(message: Pick<AssistantMessage, "content" | "stopReason" | "errorMessage">): {
  text: string;
  isAnswer: boolean;
} {
  const text = joinTextBlocks(message.content.filter((block) => block.type === "text")).trim();
  if (message.stopReason === "aborted") return { text: "The question was aborted.", isAnswer: false };
  if (message.stopReason === "error")
    return { text: `There is no answer: ${message.errorMessage ?? "the request failed."}`, isAnswer: false };
  if (text === "") return { text: "The model gave no answer.", isAnswer: false };
  return { text, isAnswer: true };
}
