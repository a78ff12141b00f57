/** Messages that have all words of a search. Each is a link to the message in its session. */
import type { SearchHitData } from "@tau/protocol";
import { formatAge, getSessionTitle, type MessageSearch, splitExcerpt } from "@tau/protocol/surface";
import { getAddress } from "../app/route.ts";
import { Name } from "../text/name.tsx";

export function MessageHits({ search }: { search: MessageSearch }) {
  const { hits, hasMore, isLoading, query } = search;
  return (
    <ul class="sessions" aria-label="Messages">
      {hits.map((hit) => (
        <Hit key={`${hit.session.id} ${hit.entryId}`} hit={hit} />
      ))}
      {hits.length === 0 && (
        <li class="muted empty-list">
          {isLoading
            ? "Searching…"
            : query.text.trim() === ""
              ? "Write what a message says."
              : "No message has all of this."}
        </li>
      )}
      {hasMore && <li class="muted empty-list">There is more: add words.</li>}
    </ul>
  );
}

function Hit({ hit: { session, entryId, excerpt, timestamp } }: { hit: SearchHitData }) {
  return (
    <li>
      <a class="session" href={getAddress(session.id, entryId)}>
        <span class="session-title">
          <span class="cut">
            <Name text={getSessionTitle(session).slice(0, 200)} />
          </span>
        </span>
        <span class="hit-text">
          {splitExcerpt(excerpt).map(({ text, isMatch }, index) =>
            isMatch ? (
              <mark key={index}>
                <Name text={text} />
              </mark>
            ) : (
              <Name key={index} text={text} />
            ),
          )}
        </span>
        <span class="session-about">
          <span>{formatAge(timestamp ?? session.modifiedAt, Date.now())}</span>
        </span>
      </a>
    </li>
  );
}
