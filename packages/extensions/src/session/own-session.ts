/** The session as one extension sees it: what the extension waits for there is counted as its own waits. */
import type { ExtensionSessionPort } from "../api/session-port.ts";
import type { ExtensionUi } from "../api/ui.ts";
import type { Waits } from "../runner/waits.ts";

export function createOwnSession(session: ExtensionSessionPort, waits: Waits): ExtensionSessionPort {
  const own: Pick<ExtensionSessionPort, "ui" | "exec" | "executeTool" | "findTools" | "openChild"> = {
    ui: createOwnUi(session.ui, waits),
    exec: (...args) => waits.during(() => session.exec(...args)),
    executeTool: (...args) => waits.during(() => session.executeTool(...args)),
    findTools: () => waits.during(() => session.findTools()),
    async openChild(options) {
      const child = await session.openChild(options);
      return { ...child, prompt: (...args) => waits.during(() => child.prompt(...args)) };
    },
  };
  // Everything else is read from the session each time: some of it changes.
  return Object.assign(Object.create(session) as ExtensionSessionPort, own);
}

/** For code that is there before its session. */
export function createOwnSessionGetter(
  getSession: () => ExtensionSessionPort | undefined,
  waits: Waits,
): () => ExtensionSessionPort | undefined {
  let own: ExtensionSessionPort | undefined;
  return () => {
    const session = own ? undefined : getSession();
    if (session) own = createOwnSession(session, waits);
    return own;
  };
}

const dialogs: ReadonlySet<string | symbol> = new Set<keyof ExtensionUi>([
  "select",
  "confirm",
  "input",
  "editor",
  "custom",
]);

function createOwnUi(ui: ExtensionUi, waits: Waits): ExtensionUi {
  return new Proxy(ui, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (!dialogs.has(name)) return value;
      const open = value as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => waits.during(() => open.apply(target, args));
    },
  });
}
