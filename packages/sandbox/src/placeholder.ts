/** Files that commands see instead of hidden ones, where a program fails if its file cannot be read. */
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { foldName } from "@tau/tools/platform";
import { placeholders } from "./credentials/credential-programs.ts";
import { lookAtPath, unlessUnseen } from "./look.ts";
import type { FoundPath } from "./mounts.ts";

/** Writes the placeholder of a hidden file into `directory`, if it has one. Without it the file is hidden all the same. */
export function withPlaceholder(hidden: FoundPath, directory: string): FoundPath {
  const name = foldName(basename(hidden.path));
  const text = hidden.isDirectory ? undefined : placeholders.get(name);
  if (text === undefined) return hidden;
  const placeholder = join(directory, name);
  unlessUnseen(() => writeFileSync(placeholder, text, { mode: 0o444, flag: "wx" }));
  return lookAtPath(placeholder) ? { ...hidden, placeholder } : hidden;
}
