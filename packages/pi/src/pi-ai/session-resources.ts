/** Resources that providers keep for a session and release with it. */
type Cleanup = (sessionId?: string) => void;

const cleanups = new Set<Cleanup>();

export function registerSessionResourceCleanup(cleanup: Cleanup): () => void {
  cleanups.add(cleanup);
  return () => void cleanups.delete(cleanup);
}

export function cleanupSessionResources(sessionId?: string): void {
  for (const cleanup of cleanups) cleanup(sessionId);
}
