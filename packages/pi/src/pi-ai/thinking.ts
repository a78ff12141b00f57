import { getSupportedThinkingLevels, type Model } from "@tau/ai";

export const supportsXhigh = (model: Model): boolean => getSupportedThinkingLevels(model).includes("xhigh");
