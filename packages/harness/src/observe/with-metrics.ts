/** Counts every request of a session that is sent, whoever sends it. */
import type { StreamFn } from "@tau/agent";
import type { Clock } from "@tau/ai";
import type { Metrics } from "./metrics.ts";

/** Without metrics, requests are sent as they are. */
export function withMetrics(streamFn: StreamFn, metrics: Metrics | undefined, clock: Clock): StreamFn {
  if (!metrics) return streamFn;
  return async (...request) => {
    const startMs = clock.monotonic();
    const stream = await streamFn(...request);
    // A stream that is not finished has nothing to count.
    void stream.result().then(
      (answer) => metrics.countRequest(request[0], answer, clock.monotonic() - startMs),
      () => undefined,
    );
    return stream;
  };
}
