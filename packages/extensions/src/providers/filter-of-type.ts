import type { Model } from "@tau/ai";

/** Filters models by pi's names for their types, of which there is only `chat`. */
export const filterOfType = (models: readonly Model[], type: string, provider?: string): readonly Model[] =>
  type === "chat" ? models.filter((model) => provider === undefined || model.provider === provider) : [];
