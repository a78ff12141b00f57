/** Questions of the model to the person, with options and free text. */
import type { Feature, FeatureTool } from "@tau/extensions";

export const maxOptions = 4;

export const askTool: FeatureTool = {
  name: "ask",
  category: "coordination",
  label: "Ask",
  description:
    "Ask the user a question that only they can decide, with up to 4 options; they may also answer in their own words. Not for permission: calls that need it ask by themselves.",
  parameters: {
    type: "object",
    properties: {
      question: { type: "string" },
      options: { type: "array", items: { type: "string" }, maxItems: maxOptions, description: "Short texts." },
      multiple: { type: "boolean", description: "Several options may be chosen." },
    },
    required: ["question"],
  },
  promptSnippet: "ask the user what only they can decide",
  // It changes nothing.
  access: () => [],
  readOnly: true,
  executionMode: "sequential",
  exposure: "deferred",
  isFoundBeside: true,
  listedIn: ["plan"],
  summarise: ({ question }: { question: string }) => question,
};

/** The feature `ask`: the model asks the person, in every surface with dialogs. */
export const ask = (): Feature => ({
  name: "ask",
  summary: "Questions of the model to you, with options and free text.",
  tools: [askTool],
  load: async () => (await import("./ask.ts")).askExtension,
});
