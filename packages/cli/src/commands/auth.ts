import type { Run } from "../command.ts";
import { runForms } from "./run-forms.ts";

export const auth: Run = async (args, io) =>
  await runForms(
    "auth",
    {
      login: async (given) => (await import("./auth-login.ts")).login(given, io),
      logout: async (given) => (await import("./auth-login.ts")).logout(given, io),
      status: async (given) => (await import("./auth-status.ts")).status(given, io),
    },
    { args, io },
  );
