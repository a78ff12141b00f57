/** The transcript of a session, and the button that leads back to its end. */
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { RemoteSession } from "@tau/protocol/client";
import { ArrowDownIcon } from "../app/icons.tsx";
import { reportFailure, tell } from "../app/problems.tsx";
import { useRedraw } from "../app/redraw.ts";
import { getShownEntry, getShownSession, onRoute } from "../app/route.ts";
import { Announcer } from "./announcer.tsx";
import { ItemView } from "./item-view.tsx";
import type { Item } from "./items.ts";
import { Transcript } from "./transcript.ts";
import { VirtualList } from "./virtual-list.tsx";

const draw = (item: Item) => <ItemView item={item} />;

export function TranscriptView({ session }: { session: RemoteSession }) {
  const transcript = useMemo(() => new Transcript(session), [session]);
  useEffect(() => () => transcript.close(), [transcript]);
  useRedraw((listener) => session.onChange(listener), [session]);
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const [isAtEnd, setAtEnd] = useState(true);
  const list = useRef<VirtualList<Item> | null>(null);
  const items = transcript.getItems();
  const loadOlder = () => {
    if (transcript.hasOlder) reportFailure(transcript.loadOlder().then(() => redraw()));
  };
  const [wantedId, setWantedId] = useState(getShownEntry);
  useEffect(() => {
    return onRoute(() => {
      if (getShownSession() === session.id) setWantedId(getShownEntry());
    });
  }, [session]);
  useLayoutEffect(() => {
    if (wantedId === undefined || !session.isLoaded || !list.current) return;
    const key = transcript.findKey(wantedId, items);
    if (key === undefined && transcript.hasOlder) return loadOlder();
    setWantedId(undefined);
    if (key !== undefined) list.current.scrollTo(key);
    else tell("The message is on another branch of this session: the tree shows it.");
  }, [wantedId, items, session.isLoaded]);
  if (!session.isLoaded) {
    return (
      <div class="transcript">
        <p class="empty">Loading…</p>
      </div>
    );
  }
  return (
    <div class="transcript">
      {items.length === 0 ? (
        <p class="empty">Nothing has been said yet. What should be done?</p>
      ) : (
        <VirtualList
          onCreate={(created) => (list.current = created)}
          items={items}
          draw={draw}
          estimatedHeight={72}
          label="Transcript"
          role="log"
          followsEnd
          onNearStart={loadOlder}
          onAtEnd={setAtEnd}
        />
      )}
      {!isAtEnd && (
        <button class="to-end" onClick={() => list.current?.scrollToEnd()} aria-label="Go to the end">
          <ArrowDownIcon />
        </button>
      )}
      <Announcer session={session} />
    </div>
  );
}
