import type { Command } from "../command.ts";

/** Every command. Help, suggestions and completion read this table; nothing is loaded until its command runs. */
export const commands: readonly Command[] = [
  {
    name: "demo",
    summary: "Watch a scripted model work on a temporary project, offline",
    usage: ["tau demo"],
    load: async () => (await import("./demo.ts")).demo,
  },
];
