/**
 * What the user allowed for a project, or everywhere, so that it is not asked again. Kept in `approvals.json` in the
 * user's directory, and read each time a question would be asked: what was removed from the file counts no more.
 */
import { join } from "node:path";
import { type Ids } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { capabilities, type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { readWhole, writeWhole } from "../durable-file.ts";
import { type Grant, isCovered } from "./grants.ts";
import type { Capability, Target } from "./policy.ts";

interface RememberedRule extends Grant {
  /** The directory in which it counts; absent: everywhere. */
  project?: string;
}

/** What the judge needs of them. */
export interface RememberedRules {
  covers(capability: Capability, target: Target): Promise<boolean>;
  add(scope: "project" | "always", capability: Capability, target: Target): Promise<void>;
}

export interface RememberedRulesOptions {
  agentDir: string;
  /** The project's directory. */
  cwd: string;
  fileSystem?: FileSystem;
  ids: Ids;
}

export function createRememberedRules({
  agentDir,
  cwd,
  fileSystem = nodeFileSystem,
  ids,
}: RememberedRulesOptions): RememberedRules {
  const path = join(agentDir, "approvals.json");
  return {
    async covers(capability, target) {
      const rules = await readRules(fileSystem, path);
      return isCovered(
        rules.filter(({ project }) => project === undefined || project === cwd),
        capability,
        target,
      );
    },
    async add(scope, capability, target) {
      const rules = await readRules(fileSystem, path);
      const rule = { capability, target, ...(scope === "project" && { project: cwd }) };
      const bytes = Buffer.from(`${JSON.stringify({ version: 1, rules: [...rules, rule] }, undefined, 2)}\n`);
      await writeWhole(fileSystem, { path, bytes, ids });
    },
  };
}

/** One line for people, such as `read /home/me/notes`. */
export function formatRule(capability: Capability, target: Target): string {
  switch (target.kind) {
    case "path":
      return `${capability} ${target.path}`;
    case "command":
      return `${capability} ${target.command}`;
    case "host":
      return `${capability} ${target.host}`;
    case "name":
      return `${capability} ${target.name}`;
  }
}

/** A file that cannot be read allows nothing. */
async function readRules(fs: FileSystem, path: string): Promise<RememberedRule[]> {
  const bytes = await readWhole(fs, path);
  if (!bytes) return [];
  const value = tryParseJson(bytes.toString("utf8"));
  const rules: unknown = isRecord(value) ? value["rules"] : undefined;
  return Array.isArray(rules) ? rules.filter(isRule) : [];
}

function isRule(value: unknown): value is RememberedRule {
  if (!isRecord(value) || !isRecord(value["target"])) return false;
  const { capability, target, project } = value;
  const { kind, path, command, host, name } = target as Record<string, unknown>;
  const subject = { path, command, host, name }[String(kind)];
  return (
    capabilities.includes(capability as Capability) &&
    typeof subject === "string" &&
    (project === undefined || typeof project === "string")
  );
}
