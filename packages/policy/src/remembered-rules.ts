/**
 * Rules that the user allowed for a project, or everywhere, so that it is not asked again. They are kept in
 * `approvals.json` in the user's directory, and read each time a question would be asked: what was removed from the
 * file applies no more.
 */
import { orUndefined } from "@tau/tools/durable";
import { type CoverOptions, type Grant, isCovered } from "./grants.ts";
import { isAccess } from "./is-access.ts";
import type { Capability, Target } from "./policy.ts";
import { describeRecordFile, type RecordFileOptions } from "./record-file.ts";

export interface RememberedRule extends Grant {
  /** The directory in which it applies; absent: everywhere. */
  project?: string;
}

/** The part of them that the judge needs. */
export interface RememberedRules {
  covers(capability: Capability, target: Target, options?: CoverOptions): Promise<boolean>;
  add(scope: "project" | "always", grant: Grant): Promise<void>;
}

interface ProjectRules extends RememberedRules {
  /** The hosts that commands may reach in this project. */
  listHosts(): Promise<string[]>;
}

export function createRememberedRules(options: RecordFileOptions): ProjectRules {
  const { cwd } = options;
  /** Reads the rules that apply here. */
  const readOwn = async () => {
    // A file that cannot be read allows nothing, as one that cannot be parsed.
    const rules = (await orUndefined(file.read(options))) ?? [];
    return rules.filter(({ project }) => project === undefined || project === cwd);
  };
  return {
    async covers(capability, target, coverOptions) {
      return isCovered(await readOwn(), capability, target, coverOptions);
    },
    async listHosts() {
      return (await readOwn()).flatMap(({ capability, target }) =>
        capability === "http" && target.kind === "host" ? [target.host] : [],
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

/**
 * Formats a rule in one line for people, such as `read /home/me/notes`, or `write /home/me/notes/*` for all of a directory.
 */
export const formatRule = ({ capability, target, isPrefix = false }: Grant): string =>
  `${capability} ${getSubject(target)}${isPrefix && target.kind === "path" ? "/*" : ""}`;

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
