/** All sessions, the last used first, with a search. */
import { useRef } from "preact/hooks";
import type { GatewayClient } from "@tau/protocol/client";
import { formatAge, getSessionTitle, pluralise } from "@tau/protocol/surface";
import { Logo, PlusIcon, SearchIcon, ThemeIcon } from "../app/icons.tsx";
import { useRedraw } from "../app/redraw.ts";
import { showSession } from "../app/route.ts";
import { toggleTheme } from "../app/theme.ts";
import { shortenPath } from "../text/format.ts";
import { Name } from "../text/name.tsx";
import { MessageHits } from "./message-hits.tsx";
import type { SessionSidebar, SessionRow } from "./session-sidebar.ts";

/** Panels that belong to no session. */
export type PanelName = "new" | "help" | "devices" | "inbox" | "schedules" | "channels" | "usage";

interface SessionListProps {
  client: GatewayClient;
  pages: SessionSidebar;
  shownId: string | undefined;
  onOpenPanel: (panel: PanelName) => void;
}

const searchDelayMs = 200;

export function SessionList({ client, pages, shownId, onOpenPanel }: SessionListProps) {
  useRedraw((listener) => pages.onChange(listener), [pages]);
  const timer = useRef(0);
  const field = useRef<HTMLInputElement>(null);
  const search = (query: string) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void pages.search(query), searchDelayMs);
  };
  const scopes = client.hello?.scopes ?? [];
  return (
    <nav class="sidebar" aria-label="Sessions">
      <header class="sidebar-title">
        <Logo />
        <span class="brand">tau</span>
        <button class="icon-button" onClick={toggleTheme} aria-label="Light or dark">
          <ThemeIcon />
        </button>
        <button class="icon-button" onClick={() => onOpenPanel("new")} aria-label="New session">
          <PlusIcon />
        </button>
      </header>
      <label class="search">
        <SearchIcon />
        <input
          id="session-search"
          ref={field}
          type="search"
          placeholder={pages.searchesMessages ? "Search messages" : "Search sessions"}
          aria-label="Search sessions"
          onInput={(event) => search(event.currentTarget.value)}
        />
      </label>
      <label class="search-messages">
        <input
          type="checkbox"
          checked={pages.searchesMessages}
          onChange={(event) => void pages.setSearchesMessages(event.currentTarget.checked, field.current?.value ?? "")}
        />
        In messages
      </label>
      {pages.problem !== "" && (
        <p class="problem" role="alert">
          {pages.problem}
        </p>
      )}
      {pages.searchesMessages ? (
        <MessageHits search={pages.messages} />
      ) : (
        <ul class="sessions" aria-label="Sessions">
          {pages.sessions.map((session) => (
            <SessionItem
              key={session.id}
              session={session}
              isShown={session.id === shownId}
              questions={pages.countQuestions(session.id)}
            />
          ))}
          {pages.sessions.length === 0 && client.state.kind === "open" && (
            <li class="muted empty-list">No sessions.</li>
          )}
          {pages.hasMore && (
            <li>
              <button class="button wide" onClick={() => void pages.loadMore()}>
                Show more
              </button>
            </li>
          )}
        </ul>
      )}
      <footer class="sidebar-foot">
        <button class="text-button" onClick={() => onOpenPanel("inbox")}>
          Not delivered
        </button>
        <button class="text-button" onClick={() => onOpenPanel("schedules")}>
          Schedules
        </button>
        <button class="text-button" onClick={() => onOpenPanel("channels")}>
          Channels
        </button>
        {scopes.includes("admin") && (
          <button class="text-button" onClick={() => onOpenPanel("usage")}>
            Use
          </button>
        )}
        {scopes.includes("pair") && (
          <button class="text-button" onClick={() => onOpenPanel("devices")}>
            Devices
          </button>
        )}
        <button class="text-button" onClick={() => onOpenPanel("help")} aria-label="Keys and commands">
          Help
        </button>
      </footer>
    </nav>
  );
}

function SessionItem({ session, isShown, questions }: { session: SessionRow; isShown: boolean; questions: number }) {
  return (
    <li>
      <button
        class={isShown ? "session shown" : "session"}
        aria-current={isShown ? "page" : undefined}
        onClick={() => showSession(session.id)}
      >
        <span class="session-title">
          {session.status !== "closed" && session.status !== "idle" && (
            <span class={`dot ${session.status}`} title={session.status} />
          )}
          <span class="cut">
            <Name text={getSessionTitle(session).slice(0, 200)} />
          </span>
          {questions > 0 && <span class="badge">{pluralise(questions, "question")}</span>}
        </span>
        <span class="session-about">
          <span class="cut">
            <Name text={shortenPath(session.cwd)} />
          </span>
          <span>{formatAge(session.modifiedAt, Date.now())}</span>
        </span>
        <span class="only-heard">{session.status}</span>
      </button>
    </li>
  );
}
