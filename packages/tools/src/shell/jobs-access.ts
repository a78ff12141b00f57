/** Lists what calls of the tool `jobs` want. Loaded at every start, unlike the tool. */
import type { AccessRequest } from "../access.ts";
import { getText } from "../arguments.ts";
import type { Jobs } from "./jobs.ts";

/** Text for a terminal is judged for the program that reads it; a job that is not known has none. */
export const getJobsAccess =
  (jobs: Pick<Jobs, "getTerminal" | "list">) =>
  (args: unknown): AccessRequest[] => {
    const id = getText(args, "id");
    const isWriting = getText(args, "action") === "write" && jobs.list().some((job) => job.id === id);
    const terminal = isWriting ? jobs.getTerminal(id!) : undefined;
    return [...(terminal?.getAccess(getText(args, "text") ?? "") ?? [usesJobs])];
  };

const usesJobs: AccessRequest = { capability: "exec", target: { kind: "name", name: "jobs" } };
