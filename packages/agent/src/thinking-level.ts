import type { ThinkingLevel } from "./types.ts";

/** `none` is another word for `off`, and so is silence. */
export const toThinkingLevel = (level: ThinkingLevel | "none" | undefined): ThinkingLevel =>
  level === undefined || level === "none" ? "off" : level;
