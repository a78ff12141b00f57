/** The definition of `change_files`. No request lists it and no search finds it: the tools of features call it. */
import { resolve } from "node:path";
import { isRecord } from "@tau/ai/internal";
import type { AccessRequest } from "../access.ts";
import type { DescribedTool, FileTouches } from "../tool.ts";

const path = { type: "string" } as const;
const sha256 = { type: "string", description: "Of the bytes that the caller saw, hex" } as const;

const edit = {
  type: "object",
  required: ["start", "end", "text"],
  properties: { start: { type: "integer" }, end: { type: "integer" }, text: { type: "string" } },
} as const;

const parameters = {
  type: "object",
  required: ["changes", "reason"],
  properties: {
    changes: {
      type: "array",
      items: {
        anyOf: [
          {
            type: "object",
            required: ["path", "edits"],
            properties: { path, sha256, edits: { type: "array", items: edit } },
          },
          { type: "object", required: ["path", "content"], properties: { path, sha256, content: { type: "string" } } },
          { type: "object", required: ["path", "moveTo"], properties: { path, sha256, moveTo: { type: "string" } } },
          {
            type: "object",
            required: ["path", "remove"],
            properties: { path, sha256, remove: { type: "boolean", const: true } },
          },
        ],
      },
      minItems: 1,
      maxItems: 10_000,
    },
    reason: { type: "string", description: "For people: what the change is for" },
  },
} as const;

export const changeFilesDefinition = {
  name: "change_files",
  label: "Change files",
  description: "Change, create, move and remove files together, all or none.",
  parameters,
  shows: "diff",
  access(args: unknown, cwd: string): AccessRequest[] {
    const paths = listPaths(args);
    if (paths.length === 0) return [{ capability: "write", target: { kind: "name", name: "change_files" } }];
    return paths.map((name) => ({ capability: "write", target: { kind: "path", path: resolve(cwd, name) } }));
  },
  summarise(args: unknown): string | undefined {
    const reason = isRecord(args) ? args["reason"] : undefined;
    const paths = listPaths(args);
    if (paths.length === 0 || typeof reason !== "string") return undefined;
    const shown = paths.slice(0, 10).join(", ");
    return `${reason} (changes ${shown}${paths.length > 10 ? ` and ${paths.length - 10} more` : ""})`;
  },
  touches: (args: unknown): FileTouches => ({ read: [], modified: listPaths(args) }),
} satisfies Omit<DescribedTool, "execute">;

export type ChangeFilesParameters = (typeof changeFilesDefinition)["parameters"];

/** All paths, each once, in the order of the changes. */
function listPaths(args: unknown): string[] {
  const changes = isRecord(args) && Array.isArray(args["changes"]) ? args["changes"].filter(isRecord) : [];
  const paths = changes.flatMap((change) => [change["path"], change["moveTo"]]);
  return [
    ...new Set(paths.filter((value) => typeof value === "string" && value !== "" && !value.includes("\0"))),
  ] as string[];
}
