import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.registerFlag("language", { type: "string", description: "The language of answers" });
  tau.on("before_agent_start", ({ systemPrompt }) => {
    const language = tau.getFlag("language");
    return language === undefined ? undefined : { systemPrompt: `${systemPrompt}\n\nAnswer in ${language}.` };
  });
}
