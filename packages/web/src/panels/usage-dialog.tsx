/** The use of all sessions. Most visits do not look at it, so its content is loaded when it is opened. */
import type { GatewayClient } from "@tau/protocol/client";
import { Dialog } from "../app/dialog.tsx";
import { useLoaded } from "../app/loaded.ts";

export function UsageDialog({ client, onClose }: { client: GatewayClient; onClose: () => void }) {
  const [content, retry] = useLoaded(() => import("./usage-panel.tsx"), []);
  return (
    <Dialog title="Use" shape="wide" onClose={onClose}>
      {content.kind === "loading" && <p class="muted">Loading…</p>}
      {content.kind === "failed" && (
        <div role="alert">
          <p class="problem">This part of the page could not be loaded: {content.message}</p>
          <button class="button" onClick={retry}>
            Try again
          </button>
        </div>
      )}
      {content.kind === "loaded" && <content.value.UsagePanel client={client} />}
    </Dialog>
  );
}
