/** Messages that were accepted and never said. They can be sent again. */
import type { GatewayClient } from "@tau/protocol/client";
import { formatAge } from "@tau/protocol/surface";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { useLoaded } from "../app/loaded.ts";
import { Name } from "../text/name.tsx";

export function InboxPanel({ client, onClose }: { client: GatewayClient; onClose: () => void }) {
  const [inbox, reload] = useLoaded(() => client.call("inbox.list", {}), [client]);
  const attempt = useAttempt();
  const messages = inbox.kind === "loaded" ? inbox.value.messages : [];
  const act = async (run: () => Promise<unknown>) => {
    await attempt.run(run);
    reload();
  };
  return (
    <Dialog title="Not delivered" onClose={onClose}>
      <p class="muted small">Messages that the gateway accepted and that no session has taken.</p>
      {(attempt.problem !== "" || inbox.kind === "failed") && (
        <p class="problem" role="alert">
          {attempt.problem || (inbox.kind === "failed" ? inbox.message : "")}
        </p>
      )}
      <ul class="options">
        {messages.map((message) => (
          <li class="device" key={message.id}>
            <span>
              <span class="cut block">
                <Name text={message.text} />
              </span>
              <span class="muted small block">
                {message.state === "dead" ? (message.reason ?? "Given up") : "Waiting"} ·{" "}
                {formatAge(message.acceptedAt, Date.now())}
              </span>
            </span>
            <span class="buttons">
              {message.state === "dead" && (
                <button class="button" onClick={() => void act(() => client.call("inbox.replay", { id: message.id }))}>
                  Send again
                </button>
              )}
              <button class="button" onClick={() => void act(() => client.call("inbox.cancel", { id: message.id }))}>
                Discard
              </button>
            </span>
          </li>
        ))}
        {inbox.kind === "loading" && <li class="muted">Loading…</li>}
        {inbox.kind === "loaded" && messages.length === 0 && <li class="muted">There are none.</li>}
      </ul>
    </Dialog>
  );
}
