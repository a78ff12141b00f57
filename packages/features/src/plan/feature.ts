/** Plan mode for the model: it reads, asks and proposes a plan, which the person accepts, changes or refuses. */
import type { Feature, FeatureTool } from "@tau/extensions";

export const proposePlanTool: FeatureTool = {
  name: "propose_plan",
  category: "coordination",
  label: "Plan",
  description:
    "Propose a plan to the user, who accepts it, changes it, or says what is wrong. Only an accepted plan is carried out.",
  parameters: {
    type: "object",
    properties: {
      name: { type: "string", description: "A few words." },
      content: {
        type: "string",
        description: "The whole plan in Markdown: what to change, in which files, how to check it.",
      },
    },
    required: ["name", "content"],
  },
  promptSnippet: "propose a plan to the user",
  promptGuidelines: [
    "Plan mode is on: nothing can be written, and commands can change nothing. Read what you need, ask what only the user can decide, then call propose_plan. Do not try to change anything before the plan is accepted.",
  ],
  access: () => [],
  shows: "document",
  isContained: true,
  executionMode: "sequential",
  exposure: "hidden",
  listedIn: ["plan"],
  summarise: ({ name }: { name: string }) => `Propose a plan: ${name}`,
};

/** The feature `plan`: `/plan` and the tool with which the model proposes one. */
export const plan = (): Feature => ({
  name: "plan",
  summary: "Plans: the model reads and proposes, and you accept, change or refuse.",
  tools: [proposePlanTool],
  commands: [
    { name: "plan", description: "Turn plan mode on or off; with a text, plan that; `continue` in a new session" },
  ],
  loadsIn: ["plan"],
  load: async (place) => (await import("./plan.ts")).createPlanExtension(place),
});
