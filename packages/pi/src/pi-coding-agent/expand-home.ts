import { homedir } from "node:os";
import { join } from "node:path";

/** `~` at the beginning is the home directory. */
export const expandHome = (path: string): string =>
  path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
