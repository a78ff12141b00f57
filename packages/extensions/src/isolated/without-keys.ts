import type { Model } from "@tau/ai";

/** A model as an isolated extension may see it. */
export const withoutKeys = <T extends Model | undefined>(model: T): T => {
  if (!model?.headers) return model;
  const { headers: _headers, ...rest } = model;
  return rest as T;
};
