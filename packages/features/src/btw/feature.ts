/** Side questions: answered with the conversation, and no part of it. */
import type { Feature } from "@tau/extensions";

export const btwCommand = {
  name: "btw",
  description:
    "Ask something beside the conversation, also during a run: neither the question nor the answer becomes a part of it",
};

export const btw = (): Feature => ({
  name: "btw",
  summary: "Side questions that do not enter the conversation.",
  commands: [btwCommand],
  load: async () => (await import("./btw.ts")).createBtwExtension(),
});
