import { getErrorMessage } from "@tau/ai/internal";
import type { GatewayParts } from "../parts.ts";

/** A little longer than a run may take: a run that ends by its own limit keeps its place until then. */
export const maxRunMs = 48 * 60 * 60_000 + 60_000;

/** Does work that begins a run when there is a place for it, and holds the place until it is done. */
export async function holdPlace<T>(
  { lanes, runs, log }: Pick<GatewayParts, "lanes" | "runs" | "log">,
  sessionId: string,
  work: () => Promise<T>,
): Promise<T> {
  const place = lanes.request({ sessionId, lanes: ["global"], maxHoldMs: maxRunMs });
  await place.given;
  try {
    // A run whose beginning could not be written down is only not known to be cut after a crash.
    await runs.begin(sessionId).catch((error: unknown) => log(getErrorMessage(error)));
    return await work();
  } finally {
    place.release();
  }
}
