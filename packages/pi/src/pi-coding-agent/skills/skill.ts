/** Reads a skill: a Markdown file whose head names and describes it. */
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { SourceInfo } from "@tau/extensions";
import { getErrorMessage } from "@tau/ai/internal";
import { createSyntheticSourceInfo } from "../source-info.ts";
import type { ResourceDiagnostic } from "./diagnostics.ts";
import { parseFrontmatter } from "./frontmatter.ts";

export interface Skill {
  name: string;
  description: string;
  filePath: string;
  baseDir: string;
  source: string;
  sourceInfo: SourceInfo;
  /** Only a person can call it, by its name. */
  disableModelInvocation: boolean;
}

const maxNameLength = 64;
const maxDescriptionLength = 1_024;

/** A skill without a description is none; other errors are only reported. */
export function loadSkill(
  filePath: string,
  source: string,
): { skill: Skill | undefined; diagnostics: ResourceDiagnostic[] } {
  const warn = (message: string): ResourceDiagnostic => ({ type: "warning", message, path: filePath });
  try {
    const { frontmatter } = parseFrontmatter(readFileSync(filePath, "utf8"));
    const baseDir = dirname(filePath);
    const directoryName = basename(baseDir);
    const name = String(frontmatter["name"] ?? directoryName);
    const description = frontmatter["description"];
    const problems = [...findDescriptionProblems(description), ...findNameProblems(name, directoryName)];
    const diagnostics = problems.map(warn);
    if (typeof description !== "string" || description.trim() === "") return { skill: undefined, diagnostics };
    const disableModelInvocation = frontmatter["disable-model-invocation"] === true;
    const sourceInfo = createSyntheticSourceInfo(filePath, { source, scope: getScope(source), baseDir });
    return {
      skill: { name, description, filePath, baseDir, source, sourceInfo, disableModelInvocation },
      diagnostics,
    };
  } catch (error) {
    return { skill: undefined, diagnostics: [warn(getErrorMessage(error))] };
  }
}

const getScope = (source: string): SourceInfo["scope"] =>
  source === "user" || source === "project" ? source : "temporary";

function findNameProblems(name: string, directoryName: string): string[] {
  return [
    name === directoryName ? "" : `name "${name}" does not match parent directory "${directoryName}"`,
    name.length > maxNameLength ? `name exceeds ${maxNameLength} characters (${name.length})` : "",
    /^[a-z0-9-]+$/.test(name) ? "" : "name contains invalid characters (must be lowercase a-z, 0-9, hyphens only)",
    /^-|-$/.test(name) ? "name must not start or end with a hyphen" : "",
    name.includes("--") ? "name must not contain consecutive hyphens" : "",
  ].filter(Boolean);
}

function findDescriptionProblems(description: unknown): string[] {
  if (typeof description !== "string" || description.trim() === "") return ["description is required"];
  if (description.length <= maxDescriptionLength) return [];
  return [`description exceeds ${maxDescriptionLength} characters (${description.length})`];
}
