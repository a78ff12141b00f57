import type { View } from "@tau/protocol";

/** The view with only as much of the end of its window as fits into `maxBytes`, but at least the last entry. Pure. */
export function cutWindow(view: View, maxBytes: number): View {
  const { entries } = view.log;
  let bytes = 0;
  const last = entries.findLastIndex((entry, index) => {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    return bytes > maxBytes && index < entries.length - 1;
  });
  return last < 0 ? view : { ...view, log: { ...view.log, entries: entries.slice(last + 1), hasOlder: true } };
}
