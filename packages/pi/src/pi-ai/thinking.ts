import { getSupportedThinkingLevels, type Model } from "@tau/ai";

/** Without a level of its own, `xhigh` becomes the one above it. */
export const supportsXhigh = (model: Model): boolean =>
  getSupportedThinkingLevels(model).some((level) => level === "xhigh" || level === "max");
