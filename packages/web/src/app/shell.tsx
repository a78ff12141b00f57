/** The page: sessions on the left, one of them on the right. On a phone, one or the other. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { GatewayClient } from "@tau/protocol/client";
import { ChannelsPanel } from "../panels/channels-panel.tsx";
import { DevicesPanel } from "../panels/devices-panel.tsx";
import { HelpPanel } from "../panels/help-panel.tsx";
import { InboxPanel } from "../panels/inbox-panel.tsx";
import { SchedulesPanel } from "../panels/schedules-panel.tsx";
import { UsageDialog } from "../panels/usage-dialog.tsx";
import { NewSession } from "../sessions/new-session.tsx";
import { type PanelName, SessionList } from "../sessions/session-list.tsx";
import { SessionSidebar } from "../sessions/session-sidebar.ts";
import { ConnectionBar } from "./connection-bar.tsx";
import { hasUnsent } from "./drafts.ts";
import { Problems } from "./problems.tsx";
import { useRedraw } from "./redraw.ts";
import { getShownSession, onRoute, showSession } from "./route.ts";
import { SessionView } from "./session-view.tsx";
import { type Shortcut, useShortcuts } from "./shortcuts.ts";
import { toggleTheme } from "./theme.ts";

export function Shell({ client, onForget }: { client: GatewayClient; onForget: () => void }) {
  const [panel, setPanel] = useState<PanelName>();
  const pages = useMemo(() => new SessionSidebar(client), [client]);
  useEffect(() => pages.start(), [pages]);
  useEffect(() => warnBeforeLeaving(client), [client]);
  useRedraw(onRoute, []);
  const sessionId = getShownSession();
  const close = () => setPanel(undefined);
  const shortcuts: Shortcut[] = [
    { key: "?", label: "This help", run: () => setPanel("help") },
    { key: "n", label: "New session", run: () => setPanel("new") },
    { key: "/", label: "Search sessions", run: focus("#session-search") },
    { key: "i", label: "Write a message", run: focus("#message") },
    { key: "j", label: "Next session", run: () => step(pages, 1) },
    { key: "k", label: "Previous session", run: () => step(pages, -1) },
    { key: "d", label: "Light or dark", run: toggleTheme },
  ];
  useShortcuts(shortcuts);
  const openPanel = (name: PanelName) => setPanel(name);
  return (
    <div class={sessionId === undefined ? "shell" : "shell shows-session"}>
      <ConnectionBar client={client} />
      <SessionList client={client} pages={pages} shownId={sessionId} onOpenPanel={openPanel} />
      {sessionId === undefined ? (
        <main class="nothing">
          <p>Choose a session, or begin a new one.</p>
          <button class="button primary" onClick={() => setPanel("new")}>
            New session
          </button>
        </main>
      ) : (
        <SessionView key={sessionId} client={client} sessionId={sessionId} onOpenShared={setPanel} />
      )}
      <Problems />
      {panel === "new" && <NewSession client={client} pages={pages} onClose={close} />}
      {panel === "help" && <HelpPanel shortcuts={shortcuts} onClose={close} />}
      {panel === "devices" && <DevicesPanel client={client} onClose={close} onForget={onForget} />}
      {panel === "schedules" && <SchedulesPanel client={client} onClose={close} />}
      {panel === "channels" && <ChannelsPanel client={client} onClose={close} />}
      {panel === "usage" && <UsageDialog client={client} onClose={close} />}
      {panel === "inbox" && <InboxPanel client={client} onClose={close} />}
    </div>
  );
}

/** A message that waits for a connection is only here. */
function warnBeforeLeaving(client: GatewayClient): () => void {
  const onLeave = (event: BeforeUnloadEvent) => hasUnsent(client) && event.preventDefault();
  window.addEventListener("beforeunload", onLeave);
  return () => window.removeEventListener("beforeunload", onLeave);
}

const focus = (selector: string) => () => document.querySelector<HTMLElement>(selector)?.focus();

function step(pages: SessionSidebar, by: number): void {
  const { sessions } = pages;
  const index = sessions.findIndex(({ id }) => id === getShownSession());
  const next = sessions[index < 0 ? 0 : index + by];
  if (next) showSession(next.id);
}
