/** Notes that extensions show once, until they were read. */
import { useEffect, useState } from "preact/hooks";
import type { UiNote } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";
import { parseTextWithDiffs } from "@tau/protocol/surface";
import type { Draft } from "../app/draft.ts";
import { CloseIcon } from "../app/icons.tsx";
import { Hidden } from "../text/hidden.tsx";
import { toPlainOutput } from "../text/visible-text.ts";
import { Diff } from "../transcript/diff.tsx";

type Note = Extract<UiNote, { method: "notify" | "set_editor_text" }>;

const maxNotes = 3;

/** Differences are drawn as such, and the columns of other texts with several lines stay below each other. */
function NoteText({ text }: { text: string }) {
  const rows = parseTextWithDiffs(text);
  if (rows) return <Diff rows={rows} />;
  if (!text.includes("\n")) return <Hidden text={text} />;
  return (
    <pre class="lines" tabIndex={0}>
      <Hidden text={text} />
    </pre>
  );
}

export function ExtensionNotes({ session, draft }: { session: RemoteSession; draft: Draft }) {
  const [notes, setNotes] = useState<readonly Note[]>([]);
  useEffect(
    () =>
      session.onNote((note) => {
        if (note.method === "set_editor_text" && draft.text.trim() === "") draft.text = note.text;
        else if (note.method === "notify" || note.method === "set_editor_text") {
          setNotes((before) => [...before, note].slice(-maxNotes));
        }
      }),
    [session, draft],
  );
  const close = (note: Note) => setNotes(notes.filter((other) => other !== note));
  return (
    <>
      {notes.map((note, index) => (
        <div class={note.method === "notify" ? `notice ${note.notifyType}` : "notice"} role="status" key={index}>
          {note.method === "notify" ? (
            <NoteText text={toPlainOutput(note.message)} />
          ) : (
            <span>An extension suggests a message.</span>
          )}
          {note.method === "set_editor_text" && (
            <button
              class="text-button"
              onClick={() => {
                draft.text = note.text;
                close(note);
              }}
            >
              Use it instead of mine
            </button>
          )}
          <button class="icon-button" aria-label="I have read this" onClick={() => close(note)}>
            <CloseIcon />
          </button>
        </div>
      ))}
    </>
  );
}
