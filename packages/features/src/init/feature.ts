/** Instructions for a project: a child reads it and writes AGENTS.md, which the person sees before it is saved. */
import type { Feature } from "@tau/extensions";

export const initCommand = {
  name: "init",
  description:
    "Write AGENTS.md from the project, or improve it; you see the text before it is saved: /init [--yes] [WHAT MATTERS]",
};

export const init = (): Feature => ({
  name: "init",
  summary: "Writes AGENTS.md from the project, and asks before it is saved.",
  commands: [initCommand],
  load: async () => (await import("./init.ts")).createInitExtension(),
});
