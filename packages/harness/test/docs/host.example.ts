import { createHost, type Cursor, type Host, type HostOptions } from "@tau/harness/host";
import { emptyView, reduce, type View } from "@tau/protocol";

/** A client that can lose its connection and continue where it was. */
export function createClient(host: Host, sessionId: string) {
  let view: View = emptyView;
  let cursor: Cursor | undefined;
  let unsubscribe = () => {};
  return {
    connect() {
      unsubscribe = host.subscribe(
        sessionId,
        (item) => {
          view = item.kind === "snapshot" ? item.view : reduce(view, item.event);
          cursor = item.position;
        },
        cursor, // undefined the first time: the client then gets a snapshot
      );
    },
    disconnect: () => unsubscribe(),
    getView: () => view,
  };
}

/** Asks in a new session, then asks again in a second session that continues from the first answer. */
export async function askTwice(options: HostOptions, draw: (view: View) => void): Promise<string> {
  const host = createHost(options);
  try {
    const first = await host.create();
    const client = createClient(host, first);
    client.connect();
    await host.execute(first, { type: "execute", prompt: "Suggest a name." });
    draw(client.getView());
    const { leafId } = host.get(first).view.log;
    if (leafId === null) throw new Error("The session is empty.");
    const second = await host.fork(first, leafId);
    const { answer } = await host.execute(second, { type: "execute", prompt: "Suggest another one." });
    return answer;
  } finally {
    await host.dispose();
  }
}
