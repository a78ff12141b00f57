import type { Run } from "../command.ts";

/** The code behind each command of the table, loaded when it runs. */
export const loaders: Readonly<Record<string, () => Promise<Run>>> = {
  sessions: async () => (await import("./sessions.ts")).sessions,
  models: async () => (await import("./models.ts")).models,
  auth: async () => (await import("./auth.ts")).auth,
  config: async () => (await import("./config.ts")).config,
  doctor: async () => (await import("./doctor.ts")).doctor,
  completion: async () => (await import("./completion.ts")).completion,
  demo: async () => (await import("./demo.ts")).demo,
  help: async () => (await import("./help-topics.ts")).help,
};
