import type { Command } from "../command.ts";

/** Every command. Help and suggestions read this table; nothing is loaded until its command runs. */
export const commands: readonly Command[] = [
  {
    name: "demo",
    summary: "Stream a scripted model, offline, and show what happens",
    load: async () => (await import("./demo.ts")).demo,
  },
];
