/** The clock of a browser or of Node. `protocol` takes only types of other packages, so it has one of its own. */
import type { Clock } from "@tau/ai";

export const ownClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(afterMs, fire) {
    const timer = setTimeout(fire, afterMs);
    return () => clearTimeout(timer);
  },
};
