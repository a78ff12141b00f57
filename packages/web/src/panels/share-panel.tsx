/** Shares a session: as a link of the gateway, or as a file on its machine; and takes links back. */
import { useState } from "preact/hooks";
import { type ExportPart, exportParts } from "@tau/protocol";
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { useLoaded } from "../app/loaded.ts";
import { Name } from "../text/name.tsx";
import { toSafeName } from "../text/visible-text.ts";

const partTexts: Record<ExportPart, string> = {
  thinking: "Thinking",
  images: "Images",
  output: "What tools have answered",
};

interface SharePanelProps {
  client: GatewayClient;
  session: RemoteSession;
  onClose: () => void;
}

export function SharePanel({ client, session, onClose }: SharePanelProps) {
  const [shares, reload] = useLoaded(() => client.call("shares.list"), [client]);
  const [leaveOut, setLeaveOut] = useState<readonly ExportPart[]>([]);
  const [done, setDone] = useState("");
  const attempt = useAttempt();
  const toggle = (part: ExportPart, isIn: boolean) =>
    setLeaveOut(isIn ? leaveOut.filter((each) => each !== part) : [...leaveOut, part]);
  const link = () =>
    attempt.run(async () => {
      const params = { sessionId: session.id, leaveOut: [...leaveOut] };
      const { path, origin = location.origin } = await client.call("shares.create", params);
      setDone(`${origin}${path}`);
      reload();
    });
  const write = () =>
    attempt.run(async () => {
      const { path } = await session.call("export_html", { redact: true, leaveOut: [...leaveOut], inExports: true });
      setDone(`Written to ${path} on the gateway's machine.`);
    });
  const revoke = (id: string) =>
    attempt.run(async () => {
      await client.call("shares.revoke", { id });
      setDone("");
      reload();
    });
  const problem = attempt.problem || (shares.kind === "failed" ? shares.message : "");
  return (
    <Dialog title="Share" onClose={onClose}>
      <p class="muted small">
        All branches of this session, without keys and what looks like one. Whoever has a link can read the page for 7
        days; its address is shown only now.
      </p>
      {exportParts.map((part) => (
        <label class="search-messages" key={part}>
          <input
            type="checkbox"
            checked={!leaveOut.includes(part)}
            onChange={(event) => toggle(part, event.currentTarget.checked)}
          />
          {partTexts[part]}
        </label>
      ))}
      <p class="row-form">
        <button class="button primary" disabled={attempt.isBusy} onClick={() => void link()}>
          Make a link
        </button>
        <button class="button" disabled={attempt.isBusy} onClick={() => void write()}>
          Write a file on the gateway's machine
        </button>
      </p>
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {done !== "" && (
        <p role="status">
          <code>{done}</code>
        </p>
      )}
      <ul class="options" aria-label="Links">
        {(shares.kind === "loaded" ? shares.value.shares : []).map(({ id, title, expiresAt }) => (
          <li class="device" key={id}>
            <span>
              <Name text={title} />
              <span class="muted small block">until {expiresAt.slice(0, 10)}</span>
            </span>
            <button
              class="button danger"
              aria-label={`Take back ${toSafeName(title)}`}
              disabled={attempt.isBusy}
              onClick={() => void revoke(id)}
            >
              Take back
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
