/** Sources of packages in the form that pi parses them to. */
import { parseSource } from "@tau/config/installs";

export type PiSource =
  | { type: "npm"; spec: string; name: string; pinned: boolean }
  | { type: "git"; repo: string; host: string; path: string; ref?: string; pinned: boolean }
  | { type: "local"; path: string };

/** Parses a source. If it is neither npm's nor git's, it is a path. Addresses such as `git@host:path` are git's only after `git:`. */
export function toPiSource(source: string): PiSource {
  const text = source.trim();
  const parsed = /^[\w.-]+@/.test(text) ? undefined : parseSource(text, "/");
  switch (parsed?.kind) {
    case "npm":
      return {
        type: "npm",
        spec: text.slice("npm:".length).trim(),
        name: parsed.name,
        pinned: parsed.range !== undefined,
      };
    case "git": {
      const [host = "", ...path] = parsed.directory;
      const { url: repo, ref } = parsed;
      const pin = ref === undefined ? { pinned: false } : { ref, pinned: true };
      return { type: "git", repo, host, path: path.join("/"), ...pin };
    }
    default:
      return { type: "local", path: source };
  }
}
