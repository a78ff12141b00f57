import type { SourceInfo } from "@tau/extensions";

/** Where something comes from that was not found in one of the usual places. */
export const createSyntheticSourceInfo = (
  path: string,
  { source, scope = "temporary", origin = "top-level", baseDir }: Pick<SourceInfo, "source"> & Partial<SourceInfo>,
): SourceInfo => ({ path, source, scope, origin, ...(baseDir !== undefined && { baseDir }) });
