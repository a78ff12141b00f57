/** Notes that extensions show once, until they were read. */
import { useEffect, useState } from "preact/hooks";
import type { UiNote } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";
import type { Draft } from "../app/draft.ts";
import { CloseIcon } from "../app/icons.tsx";
import { Hidden } from "../text/hidden.tsx";
import { toPlainOutput } from "../text/visible-text.ts";

type Note = Extract<UiNote, { method: "notify" | "set_editor_text" }>;

const maxNotes = 3;

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
          <span class="lines">
            <Hidden
              text={note.method === "notify" ? toPlainOutput(note.message) : "An extension suggests a message."}
            />
          </span>
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
