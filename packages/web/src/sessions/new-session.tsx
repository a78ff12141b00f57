/** Begins a session in a directory that the gateway allows. */
import { useState } from "preact/hooks";
import type { GatewayClient } from "@tau/protocol/client";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { getDraft } from "../app/drafts.ts";
import { showSession } from "../app/route.ts";
import { toSafeName } from "../text/visible-text.ts";
import type { SessionSidebar } from "./session-sidebar.ts";

export function NewSession({
  client,
  pages,
  onClose,
}: {
  client: GatewayClient;
  pages: SessionSidebar;
  onClose: () => void;
}) {
  const roots = client.hello?.roots ?? [];
  const known = [...new Set([...pages.sessions.map(({ cwd }) => cwd), ...roots])];
  const [cwd, setCwd] = useState(known[0] ?? "");
  const [name, setName] = useState("");
  const attempt = useAttempt();
  const create = async (event: Event) => {
    event.preventDefault();
    await attempt.run(async () => {
      const params = { cwd: cwd.trim(), ...(name.trim() !== "" && { name: name.trim() }) };
      const { sessionId } = await client.call("sessions.create", params);
      getDraft(client, sessionId).wantsFocus = true;
      showSession(sessionId);
      void pages.refresh();
      onClose();
    });
  };
  return (
    <Dialog title="New session" onClose={onClose}>
      <form class="form" onSubmit={(event) => void create(event)}>
        <label>
          Directory
          <input
            list="directories"
            value={cwd}
            required
            autofocus
            spellcheck={false}
            autocapitalize="off"
            onInput={(event) => setCwd(event.currentTarget.value)}
          />
        </label>
        {roots.length > 0 && <p class="muted small">One of these, or below: {roots.map(toSafeName).join(", ")}</p>}
        <datalist id="directories">
          {known.map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        <label>
          <span>
            Name <span class="muted">(optional)</span>
          </span>
          <input value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        {attempt.problem !== "" && (
          <p class="problem" role="alert">
            {attempt.problem}
          </p>
        )}
        <div class="buttons">
          <button class="button" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={attempt.isBusy}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}
