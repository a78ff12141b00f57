interface Followed {
  readonly calls: Set<() => void>;
  readonly tell: () => void;
}

const followedSignals = new WeakMap<AbortSignal, Followed>();

/**
 * Calls `onAbort` when the signal aborts, or at once if it has. Returns how to stop following it. However many follow a
 * signal, it has one listener: Node 20 warns of a leak when there are more than ten, and one signal may end many sessions.
 */
export function followSignal(signal: AbortSignal | undefined, onAbort: (reason: unknown) => void): () => void {
  if (!signal) return () => {};
  // A function of its own, because the same `onAbort` may follow a signal twice.
  const call = () => onAbort(signal.reason);
  if (signal.aborted) {
    call();
    return () => {};
  }
  const followed = followedSignals.get(signal) ?? startFollowing(signal);
  followed.calls.add(call);
  return () => {
    if (!followed.calls.delete(call) || followed.calls.size > 0) return;
    signal.removeEventListener("abort", followed.tell);
    followedSignals.delete(signal);
  };
}

function startFollowing(signal: AbortSignal): Followed {
  const calls = new Set<() => void>();
  const tell = () => calls.forEach((call) => call());
  signal.addEventListener("abort", tell, { once: true });
  const followed = { calls, tell };
  followedSignals.set(signal, followed);
  return followed;
}
