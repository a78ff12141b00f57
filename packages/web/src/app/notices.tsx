/** Notices of the session, until the user has read them. */
import { useState } from "preact/hooks";
import type { LiveView } from "@tau/protocol";
import { Hidden } from "../text/hidden.tsx";
import { CloseIcon } from "./icons.tsx";

export function Notices({ notices }: { notices: LiveView["notices"] }) {
  const [read, setRead] = useState<ReadonlySet<LiveView["notices"][number]>>(new Set());
  const unread = notices.filter((notice) => !read.has(notice)).slice(-2);
  return (
    <>
      {unread.map((notice, index) => (
        <div class="notice" role="status" key={index}>
          <span>
            <Hidden text={notice.message} />
          </span>
          <button class="icon-button" aria-label="I have read this" onClick={() => setRead(new Set([...read, notice]))}>
            <CloseIcon />
          </button>
        </div>
      ))}
    </>
  );
}
