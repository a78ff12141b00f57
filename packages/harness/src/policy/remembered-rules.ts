/**
 * What the user allowed for a project, or everywhere, so that it is not asked again. Kept in `approvals.json` in the
 * user's directory, and read each time a question would be asked: what was removed from the file counts no more.
 */
import { orUndefined } from "../durable-file.ts";
import { type Grant, isCovered } from "./grants.ts";
import { isAccess } from "./is-access.ts";
import type { Capability, Target } from "./policy.ts";
import { describeRecordFile, type RecordFileOptions } from "./record-file.ts";

export interface RememberedRule extends Grant {
  /** The directory in which it counts; absent: everywhere. */
  project?: string;
}

/** What the judge needs of them. */
export interface RememberedRules {
  covers(capability: Capability, target: Target): Promise<boolean>;
  add(scope: "project" | "always", grant: Grant): Promise<void>;
}

export function createRememberedRules(options: RecordFileOptions): RememberedRules {
  const { cwd } = options;
  return {
    async covers(capability, target) {
      // A file that cannot be read allows nothing, as one that cannot be parsed.
      const rules = (await orUndefined(file.read(options))) ?? [];
      return isCovered(
        rules.filter(({ project }) => project === undefined || project === cwd),
        capability,
        target,
      );
    },
    async add(scope, grant) {
      const rule = { ...grant, ...(scope === "project" && { project: cwd }) };
      await file.change(options, (rules) => [...rules, rule]);
    },
  };
}

/** Everything that is remembered, for all projects, oldest first. */
export const listRules = (options: Omit<RecordFileOptions, "ids">): Promise<readonly RememberedRule[]> =>
  file.read(options);

/** Forgets a rule; false if it was not there any more. */
export async function removeRule(rule: RememberedRule, options: RecordFileOptions): Promise<boolean> {
  let isFound = false;
  await file.change(options, (rules) => {
    const kept = rules.filter((each) => JSON.stringify(each) !== JSON.stringify(rule));
    isFound = kept.length < rules.length;
    return kept;
  });
  return isFound;
}

/** One line for people, such as `read /home/me/notes`. */
export const formatRule = ({ capability, target }: Pick<Grant, "capability" | "target">): string =>
  `${capability} ${getSubject(target)}`;

function getSubject(target: Target): string {
  switch (target.kind) {
    case "path":
      return target.path;
    case "command":
      return target.command;
    case "host":
      return target.host;
    case "name":
      return target.name;
  }
}

const file = describeRecordFile("approvals.json", "rules", (rules): RememberedRule[] =>
  Array.isArray(rules) ? rules.filter(isRule) : [],
);

function isRule(value: unknown): value is RememberedRule {
  if (!isAccess(value)) return false;
  const { project, isPrefix } = value as { project?: unknown; isPrefix?: unknown };
  return (
    (project === undefined || typeof project === "string") && (isPrefix === undefined || typeof isPrefix === "boolean")
  );
}
