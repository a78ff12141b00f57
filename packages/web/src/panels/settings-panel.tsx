/** The settings that apply to a session. They are changed in their file, or in the terminal. */
import { useState } from "preact/hooks";
import type { RemoteSession } from "@tau/protocol/client";
import { Dialog } from "../app/dialog.tsx";
import { useLoaded } from "../app/loaded.ts";
import { Name } from "../text/name.tsx";

const maxValue = 200;

export function SettingsPanel({ session, onClose }: { session: RemoteSession; onClose: () => void }) {
  const [query, setQuery] = useState("");
  const [loaded] = useLoaded(() => session.call("list_settings"), [session]);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const settings = (loaded.kind === "loaded" ? loaded.value.settings : []).filter(({ key, description }) =>
    words.every((word) => `${key} ${description}`.toLowerCase().includes(word)),
  );
  return (
    <Dialog title="Settings" onClose={onClose}>
      <input
        class="filter"
        type="search"
        autofocus
        placeholder="Search settings"
        aria-label="Search settings"
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {loaded.kind === "failed" && (
        <p class="problem" role="alert">
          {loaded.message}
        </p>
      )}
      <ul class="options" aria-label="Settings">
        {settings.map(({ key, description, value, origin }) => (
          <li class="device" key={key}>
            <span>
              <code>{key}</code>
              <span class="muted small block">{description}</span>
            </span>
            <span class="setting-value small">
              <Name text={formatValue(value)} />
              {origin !== "default" && <span class="tag">{origins[origin]}</span>}
            </span>
          </li>
        ))}
        {loaded.kind === "loading" && <li class="muted">Loading…</li>}
        {loaded.kind === "loaded" && settings.length === 0 && <li class="muted">No settings.</li>}
      </ul>
    </Dialog>
  );
}

const origins = { global: "yours", project: "this project", run: "this run" };

const formatValue = (value: unknown): string => (value === undefined ? "–" : JSON.stringify(value).slice(0, maxValue));
