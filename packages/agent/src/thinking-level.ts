import type { ThinkingLevel } from "./types.ts";

/** `none` and undefined mean `off`. */
export const toThinkingLevel = (level: ThinkingLevel | "none" | undefined): ThinkingLevel =>
  level === undefined || level === "none" ? "off" : level;
