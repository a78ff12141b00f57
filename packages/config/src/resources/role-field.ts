/** The field `role` of front matter: the role whose model is used. */
import { isRoleName } from "../models/roles.ts";
import type { FieldValue } from "./front-matter.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";

/** Returns the name without its mark. Whether there is such a role depends on the settings. */
export function readRole(path: string, field: FieldValue | undefined, problems: ResourceProblem[]): string | undefined {
  if (!field || field.value === null) return undefined;
  const name = typeof field.value === "string" ? field.value.trim().replace(/^@/, "") : "";
  if (isRoleName(name)) return name;
  const text = "`role` has to be the name of a role, such as slow. It is ignored.";
  problems.push(createProblem("invalid", { path, line: field.line, key: "role" }, text));
  return undefined;
}
