/** Worktrees of tasks: what became of those whose process was killed, and a command for those that hold changes. */
import { resolveFields } from "@tau/config/settings";
import type { Feature } from "@tau/extensions";
import { getFanoutDirectory, hasRecords } from "./directory.ts";
import { fanoutSettings } from "./settings.ts";

export const worktrees = (): Feature => ({
  name: "worktrees",
  summary: "Cleans up after tasks that worked in directories of their own, and keeps their changes.",
  settings: fanoutSettings,
  programCommands: [
    {
      name: "worktrees",
      summary: "List, show, apply and remove the changes of tasks that worked in directories of their own",
      usage: [
        "tau worktrees [--json]  List those that are in use, or hold changes",
        "tau worktrees list [--json]  Does the same",
        "tau worktrees show NAME  Show the changes of one",
        "tau worktrees apply NAME  Apply the changes of one to the files of its repository, and remove it",
        "tau worktrees remove NAME [--yes]  Remove one with its branch and its changes",
      ],
      run: async (context) => await (await import("./program.ts")).runWorktreesCommand(context),
    },
  ],
  // Only where there are some: then those of processes that were killed have to be looked at.
  opensWithSession: ({ settings }) =>
    hasRecords(getFanoutDirectory(resolveFields(fanoutSettings, settings.get()).fanout.directory)),
  load: async () => (await import("./sweep-extension.ts")).sweepExtension,
});
