/** `tau sessions`: each of its forms is loaded when it is asked for. */
import type { Run } from "../command.ts";
import { runForms } from "./run-forms.ts";

export const sessions: Run = async (args, io) =>
  await runForms(
    "sessions",
    {
      list: async (given) => (await import("./sessions-list.ts")).listSessions(given, io),
      tree: async (given) => (await import("./sessions-tree.ts")).showTree(given, io),
      show: async (given) => (await import("./sessions-show.ts")).showSession(given, io),
      switch: async (given) => (await import("./sessions-change.ts")).switchTo(given, io),
      branch: async (given) => (await import("./sessions-change.ts")).branchFrom(given, io),
      rename: async (given) => (await import("./sessions-change.ts")).rename(given, io),
      delete: async (given) => (await import("./sessions-delete.ts")).deleteSessions(given, io),
      restore: async (given) => (await import("./sessions-delete.ts")).restoreSessions(given, io),
      export: async (given) => (await import("./sessions-export.ts")).exportSession(given, io),
      import: async (given) => (await import("./sessions-import.ts")).importFile(given, io),
      repair: async (given) => (await import("./sessions-repair.ts")).repair(given, io),
    },
    { args, io },
  );
