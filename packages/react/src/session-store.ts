/** A session as a store for React: it is followed while somebody subscribes, and shown at most once in a frame. */
import type { View } from "@tau/protocol";
import type { RemoteSession, RemoteSessionState } from "@tau/protocol/client";

/** The part of a `GatewayClient` that a page needs. */
export interface SessionClient {
  session(id: string): RemoteSession;
}

interface SessionSnapshot {
  readonly view: View;
  readonly state: RemoteSessionState;
}

export interface SessionStore {
  readonly subscribe: (listener: () => void) => () => void;
  /** Returns the same object until the session is shown again. */
  readonly getSnapshot: () => SessionSnapshot;
  /** Undefined while nobody subscribes. */
  readonly getSession: () => RemoteSession | undefined;
}

/** A session that several components follow. */
interface Followed {
  readonly session: RemoteSession;
  users: number;
}

const followedByClient = new WeakMap<SessionClient, Map<string, Followed>>();

/** How often a session is shown at most: deltas may come hundreds of times per second. */
const frameMs = 16;

/** `emptyView` is what is shown before anything is known. */
export function createSessionStore(client: SessionClient, id: string, emptyView: View): SessionStore {
  const listeners = new Set<() => void>();
  let snapshot: SessionSnapshot = { view: emptyView, state: { kind: "waiting" } };
  let followed: { session: RemoteSession; release: () => void; cancel: () => void } | undefined;
  const start = () => {
    const { session, release } = acquire(client, id);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      // What was shown last stays until the session has been received again.
      const view = session.isLoaded ? session.view : snapshot.view;
      if (view === snapshot.view && session.state === snapshot.state) return;
      snapshot = { view, state: session.state };
      for (const listener of listeners) listener();
    };
    const stop = session.onChange(() => (timer ??= setTimeout(show, frameMs)));
    timer = setTimeout(show, 0);
    const cancel = () => {
      stop();
      clearTimeout(timer);
    };
    followed = { session, release, cancel };
  };
  return {
    subscribe(listener) {
      listeners.add(listener);
      if (!followed) start();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        followed?.cancel();
        followed?.release();
        followed = undefined;
      };
    },
    getSnapshot: () => snapshot,
    getSession: () => followed?.session,
  };
}

function acquire(client: SessionClient, id: string): { session: RemoteSession; release: () => void } {
  const sessions = followedByClient.get(client) ?? new Map<string, Followed>();
  followedByClient.set(client, sessions);
  const followed = sessions.get(id) ?? { session: client.session(id), users: 0 };
  sessions.set(id, followed);
  followed.users++;
  const release = () => {
    followed.users--;
    // Later: React unmounts and mounts in one go, also twice for the same component in its strict mode.
    queueMicrotask(() => {
      if (followed.users > 0 || sessions.get(id) !== followed) return;
      sessions.delete(id);
      followed.session.close();
    });
  };
  return { session: followed.session, release };
}
